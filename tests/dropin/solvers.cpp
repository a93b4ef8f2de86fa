// SPDX-License-Identifier: BSD-3-Clause
// Every routine of lapack.def through every symbol, with all layouts and options, compared with the host's function.
// This process itself runs under the drop-in. With TESSERA_DEVICES=0, the host computes everything, and the drop-in
// adds what its functions lack: row-major matrices, and 64-bit integers.
#include <starpu.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <tessera/runtime.hpp>

#include "dropin/lapack_symbols.hpp"
#include "dropin/symbols.hpp"
#include "dropin/xerbla.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;  // the TESSERA_TILE of CMakeLists.txt
constexpr Index rows = 3 * tile + 3, order = 2 * tile + 5, right_sides = tile + 1;

bool on_host() { return std::string_view(std::getenv("TESSERA_DEVICES")) == "0"; }
std::uint64_t tasks() { return starpu_is_initialized() != 0 ? statistics().tasks : 0; }

std::vector<Layout> layouts_of(const LapackFamily& family) {
  if (family.in_c()) return {Layout::ColMajor, Layout::RowMajor};
  return {Layout::ColMajor};
}

/// Calls body(family, call) for all symbols, layouts and options.
template <Scalar T, typename Body>
void for_all(Index m, Index n, Index nrhs, Body body) {
  for (const auto& family : lapack_families)
    for (const auto layout : layouts_of(family))
      for_all_lapack_calls<T>(layout, m, n, nrhs, [&](const LapackCall& call) {
        if (!::testing::Test::HasFatalFailure()) body(family, call);
      });
}

template <Scalar T>
void expect_as_on_host(const LapackFamily& family, const LapackCall& call, LapackOperands<T> ours, Index info) {
  auto hosts = ours;
  ASSERT_EQ(make_on_host(hosts, call), info) << call;
  const auto before = tasks();
  ASSERT_EQ(call_with(ours, address_of(symbol_of(family, call)), family, call), info)
      << symbol_of(family, call) << ": " << call;
  if (info == 0) {
    ASSERT_EQ(tasks() > before, !on_host()) << symbol_of(family, call) << ": " << call;
  }
  ASSERT_TRUE(same_results(ours, hosts)) << symbol_of(family, call) << ": " << call;
}

template <typename T>
class DropInLapack : public ::testing::Test {};
TYPED_TEST_SUITE(DropInLapack, ScalarTypes);

TYPED_TEST(DropInLapack, IsRightByEverySymbol) {
  std::uint64_t seed = 0;
  for_all<TypeParam>(rows, order, right_sides, [&](const LapackFamily& family, const LapackCall& call) {
    expect_as_on_host(family, call, legal_operands<TypeParam>(call, ++seed), 0);
  });
}

TYPED_TEST(DropInLapack, IsRightForWideAndSmallMatrices) {
  for (const Index n : {Index{1}, tile, 4 * tile})
    for (const Layout layout : {Layout::ColMajor, Layout::RowMajor})
      for_all_lapack_calls<TypeParam>(layout, 2 * tile, n, 1, [&](const LapackCall& call) {
        if (::testing::Test::HasFatalFailure()) return;
        const auto& family = lapack_families[layout == Layout::ColMajor ? 0 : 4];
        expect_as_on_host(family, call, legal_operands<TypeParam>(call, 7), 0);
      });
}

/// A matrix without a factor or without an inverse. If a factorization stops early, only info and B are defined.
TYPED_TEST(DropInLapack, SaysWhatIsWrongWithAMatrix) {
  using T = TypeParam;
  constexpr Index bad = tile + 2;
  for_all<T>(order, order, right_sides, [&](const LapackFamily& family, const LapackCall& call) {
    using enum LapackRoutine;
    if (call.routine == potrs || call.routine == getrs || call.routine == lauum || call.diag == Diag::Unit) return;
    if (call.properties().has_work() && call.routine != getri && call.routine != gels) return;  // QR always succeeds
    auto ours = legal_operands<T>(call, 3);
    const bool by_columns = call.routine == getrf || call.routine == gesv || call.routine == gels;
    if (by_columns)
      for (Index i = 0; i < order; i++) ours.A(i, bad) = T{};
    else ours.A(bad, bad) = call.routine == potrf || call.routine == posv ? T(-1) : T{};
    if (by_columns) return expect_as_on_host(family, call, ours, bad + 1);
    auto hosts = ours;
    ASSERT_EQ(make_on_host(hosts, call), bad + 1) << call;
    const auto before = ours;
    ASSERT_EQ(call_with(ours, address_of(symbol_of(family, call)), family, call), bad + 1) << call;
    ASSERT_EQ(std::memcmp(ours.B.data.data(), before.B.data.data(), ours.B.data.size() * sizeof(T)), 0) << call;
    const bool factorizes = call.routine == potrf || call.routine == posv;
    if (!factorizes) {
      ASSERT_EQ(std::memcmp(ours.A.data.data(), before.A.data.data(), ours.A.data.size() * sizeof(T)), 0) << call;
    }
  });
}

// --- calls that do not compute ---------------------------------------------------------------------------------------

/// Makes one argument illegal. @return false if the routine does not have it
bool spoil(LapackCall& call, const std::string& argument) {
  if (blas::position_of(call, argument.c_str()) == 0) return false;
  if (argument == "uplo") call.uplo = Uplo{'X'};
  if (argument == "side") call.side = Side{'X'};
  if (argument == "op") call.op = Op{'X'};
  if (argument == "diag") call.diag = Diag{'X'};
  if (argument == "m") call.m = -1;
  if (argument == "n") call.n = -1;
  if (argument == "k") call.k = -1;
  if (argument == "nrhs") call.nrhs = -1;
  if (argument == "lda") call.lda = 2;
  if (argument == "ldb") call.ldb = 2;
  if (argument == "lwork") call.lwork = 1;
  return true;
}

/// Names may be padded with spaces. Some of OpenBLAS's end with a zero byte.
std::string text(const std::vector<Report>& all) {
  std::string text;
  for (const auto& [by, name, position] : all)
    text +=
        by + "(" + name.substr(0, name.find_first_of(std::string(" \0", 2))) + ", " + std::to_string(position) + ") ";
  return text;
}

/// The host's own function says which argument is illegal.
TYPED_TEST(DropInLapack, ReportsIllegalArgumentsAsTheHost) {
  using T = TypeParam;
  const std::vector<std::string> arguments{"uplo", "side", "op", "diag", "m", "n", "k", "nrhs", "lda", "ldb", "lwork"};
  for_all<T>(5, 4, 3, [&](const LapackFamily& family, const LapackCall& call) {
    for (const auto& argument : arguments) {
      if (argument == "lwork" && !family.has_work()) continue;
      auto operands = legal_operands<T>(call, 1);
      typename LapackOperands<T>::Memory memory;
      auto complete = operands.with(call, memory, false);
      if (!spoil(complete, argument)) continue;
      for (T& x : operands.A.data)
        if (!(std::abs(x) >= 0)) x = T(1);  // with a wrong leading dimension, LAPACKE finds NaN in unused triangles
      auto in_columns = complete;
      in_columns.layout = Layout::ColMajor;
      reports.clear();
      Index info = call_lapack(host_function(call), lapack_families[0], in_columns);
      const auto expected = text(reports);
      const bool forgets_info = info == untouched_info;  // as in OpenBLAS 0.3.21's getrs
      if (forgets_info && family.in_c()) continue;
      if (forgets_info && family.wide) info = -static_cast<Index>(reports.at(0).position);
      ASSERT_LT(info, 0) << call << ' ' << argument;
      const auto before = operands.A.data;
      complete.wide = family.wide;
      if (family.wide) complete.ipiv = memory.wide.data();
      reports.clear();
      EXPECT_EQ(call_lapack(address_of(symbol_of(family, call)), family, complete), family.in_c() ? info - 1 : info)
          << symbol_of(family, call) << ": " << call << ' ' << argument;
      if (!family.in_c()) {
        EXPECT_EQ(text(reports), expected) << symbol_of(family, call) << ' ' << argument;
      }
      EXPECT_EQ(std::memcmp(before.data(), operands.A.data.data(), before.size() * sizeof(T)), 0) << call;
    }
  });
}

TYPED_TEST(DropInLapack, HasALegalLayout) {
  for_all<TypeParam>(5, 4, 3, [&](const LapackFamily& family, LapackCall call) {
    if (!family.in_c()) return;
    auto operands = legal_operands<TypeParam>(call, 1);
    typename LapackOperands<TypeParam>::Memory memory;
    call = operands.with(call, memory, family.wide);
    call.layout = Layout{'?'};
    EXPECT_EQ(call_lapack(address_of(symbol_of(family, call)), family, call), -1) << symbol_of(family, call);
  });
}

TYPED_TEST(DropInLapack, MayBeEmpty) {
  for_all<TypeParam>(0, 0, 0, [&](const LapackFamily& family, LapackCall call) {
    // The high-level getri of LAPACKE 3.11 queries the workspace size, gets 0, and is then refused.
    if (call.routine == LapackRoutine::getri && !family.has_work()) return;
    typename LapackOperands<TypeParam>::Memory memory;
    LapackOperands<TypeParam> operands{Dense<TypeParam>(0, 0), Dense<TypeParam>(0, 0), {}};
    call = operands.with(call, memory, family.wide);
    EXPECT_EQ(call_lapack(address_of(symbol_of(family, call)), family, call), 0) << symbol_of(family, call);
    if (call.layout != Layout::RowMajor) return;
    call.lda = call.ldb = 0;  // legal in LAPACKE: the number of columns
    EXPECT_EQ(call_lapack(address_of(symbol_of(family, call)), family, call), 0) << symbol_of(family, call);
  });
}

/// With no reflector, no row or no column, Q is the identity, and the solution is zero.
TYPED_TEST(DropInLapack, WritesWithoutFlops) {
  using enum LapackRoutine;
  const auto expect = [](LapackCall call, std::initializer_list<LapackRoutine> routines) {
    for (const auto& family : lapack_families)
      for (const auto layout : layouts_of(family))
        for (const auto routine : routines) {
          call.routine = routine, call.layout = layout;
          if (!call.properties().exists(call.type)) continue;
          auto ours = legal_operands<TypeParam>(call, 1), hosts = ours;
          ASSERT_EQ(make_on_host(hosts, call), 0) << call;
          ASSERT_EQ(call_with(ours, address_of(symbol_of(family, call)), family, call), 0) << call;
          EXPECT_TRUE(same_results(ours, hosts)) << symbol_of(family, call) << ": " << call;
        }
  };
  const char type = common::of_type<TypeParam>('s', 'd', 'c', 'z');
  expect({.routine = orgqr, .type = type, .m = 7, .n = 4}, {orgqr, ungqr});
  expect({.routine = gels, .type = type, .m = 7, .nrhs = 2}, {gels});
  expect({.routine = gels, .type = type, .n = 5, .nrhs = 2}, {gels});
}

/// trtrs looks for zeros on the diagonal even if there is nothing to solve.
TYPED_TEST(DropInLapack, FindsZerosWithoutRightSides) {
  using T = TypeParam;
  LapackCall call{.routine = LapackRoutine::trtrs, .type = common::of_type<T>('s', 'd', 'c', 'z'), .n = 5};
  for (const auto& family : lapack_families)
    for (const auto layout : layouts_of(family)) {
      call.layout = layout;
      auto operands = legal_operands<T>(call, 1);
      operands.A(2, 2) = T{};
      EXPECT_EQ(call_with(operands, address_of(symbol_of(family, call)), family, call), 3) << symbol_of(family, call);
    }
}

/// The high-level functions of LAPACKE look for NaN where the routine reads.
TYPED_TEST(DropInLapack, FindsNan) {
  using T = TypeParam;
  for_all<T>(order, order, right_sides, [&](const LapackFamily& family, const LapackCall& call) {
    if (!family.in_c() || family.has_work() || call.diag == Diag::Unit) return;
    for (const std::string operand : {"A", "B", "tau"}) {
      const int position = blas::position_of(call, operand.c_str());
      if (position == 0 || (operand == "tau" && !call.properties().reads_factors())) continue;
      auto operands = legal_operands<T>(call, 1);
      (operand == "A"   ? operands.A(3, 3)
       : operand == "B" ? operands.B(3, 3)
                        : operands.tau[3]) = T(std::numeric_limits<Real<T>>::quiet_NaN());
      EXPECT_EQ(call_with(operands, address_of(symbol_of(family, call)), family, call), -(position + 1))
          << symbol_of(family, call) << ' ' << operand;
    }
  });
}

/// getri returns the size of its workspace after a query and after a computation.
TYPED_TEST(DropInLapack, SaysHowMuchWorkspaceIsNeeded) {
  using T = TypeParam;
  for (const auto& family : lapack_families) {
    if (!family.has_work()) continue;
    LapackCall call{.routine = LapackRoutine::getri, .type = common::of_type<T>('s', 'd', 'c', 'z'), .n = order};
    auto operands = legal_operands<T>(call, 1);
    typename LapackOperands<T>::Memory memory;
    call = operands.with(call, memory, family.wide);
    auto query = call;
    query.lwork = -1;
    ASSERT_EQ(call_lapack(address_of(symbol_of(family, call)), family, query), 0);
    EXPECT_GE(std::real(memory.work[0]), order);
    memory.work[0] = T(-1);
    ASSERT_EQ(call_lapack(address_of(symbol_of(family, call)), family, call), 0);
    EXPECT_GE(std::real(memory.work[0]), order);
  }
}

/// A host with 32-bit integers takes at most 2³¹ - 1 elements, and 2³² - 1 must not become the -1 of a query.
TYPED_TEST(DropInLapack, TakesMoreWorkspaceThanTheHost) {
  using T = TypeParam;
  for (const auto& family : lapack_families)
    for (const Index lwork : {Index{1} << 31, (Index{1} << 32) - 1}) {
      if (!family.has_work() || !family.wide) continue;
      const LapackCall call{
          .routine = LapackRoutine::geqrf, .type = common::of_type<T>('s', 'd', 'c', 'z'), .m = rows, .n = order};
      auto ours = legal_operands<T>(call, 1), hosts = ours;
      ASSERT_EQ(make_on_host(hosts, call), 0);
      typename LapackOperands<T>::Memory memory;
      auto wide = ours.with(call, memory, true);
      wide.lwork = lwork;
      ASSERT_EQ(call_lapack(address_of(symbol_of(family, wide)), family, wide), 0) << symbol_of(family, wide);
      EXPECT_TRUE(same_results(ours, hosts)) << symbol_of(family, wide) << ", " << lwork;
    }
}

/// Pivots that are not valid row numbers have the same effect as on the host, because Tessera leaves these calls to it.
TEST(DropInGetrs, TakesPivotsInAnyOrder) {
  LapackCall call{.routine = LapackRoutine::getrs, .type = 'd', .n = order, .nrhs = 2};
  auto ours = legal_operands<double>(call, 5);
  for (auto& pivot : ours.pivots) pivot = 1;  // LAPACK exchanges these rows in turn
  auto hosts = ours;
  ASSERT_EQ(make_on_host(hosts, call), 0);
  ASSERT_EQ(call_with(ours, address_of("dgetrs_"), lapack_families[0], call), 0);
  EXPECT_TRUE(same_results(ours, hosts));
}

}  // namespace
}  // namespace tessera::test
