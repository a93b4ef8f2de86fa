// SPDX-License-Identifier: BSD-3-Clause
// Every routine of the table through every symbol, with all layouts and options, at sizes of several tiles. This
// process itself runs under the drop-in. With TESSERA_DEVICES=0, the host BLAS computes everything, and the
// drop-in adds the functions that it lacks.
#include <starpu.h>

#include <cstdlib>
#include <string_view>

#include <tessera/runtime.hpp>

#include "dropin/symbols.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;  // the TESSERA_TILE of CMakeLists.txt
constexpr Extent size{tile + 3, 2 * tile + 1, tile + 2};

bool on_host() { return std::string_view(std::getenv("TESSERA_DEVICES")) == "0"; }

/// Whether the host BLAS reads A and B of a product although alpha is 0, as OpenBLAS does for small matrices on some
/// processors. The result may then be wrong without a fault of the drop-in.
template <Scalar T>
bool host_reads_for_nothing(const Call<T>& call) {
  static const bool openblas_does = [] {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    double C = 1;
    device::cpu::gemm<double>(Op::NoTrans, Op::NoTrans, 1, 1, 1, 0, &nan, 1, &nan, 1, 1, &C, 1);
    return std::isnan(C);
  }();
  return on_host() && call.alpha == T{} && call.routine->has("op_b") && openblas_does;
}

/// The number of tasks of the runtime so far. It grows if a call runs on the devices.
std::uint64_t tasks() { return starpu_is_initialized() != 0 ? statistics().tasks : 0; }

template <Scalar T>
::testing::AssertionResult is_right_where_it_belongs(const std::string& symbol, const Family& family, Layout layout,
                                                     const Call<T>& call) {
  const auto before = tasks();
  if (auto right = symbol_is_right(symbol, family, layout, call); !right) return right;
  const bool computed = tasks() > before;
  if (computed == (!on_host() && !call.empty() && !call.does_nothing())) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << symbol << (computed ? " used the devices: " : " used the host: ") << call;
}

/// Calls `body(symbol, family, layout)` for all symbols and layouts of a routine.
template <Scalar T, typename Body>
void for_all_symbols(const Routine<T>& routine, Body body) {
  for (const auto& family : families)
    for (const auto& name : names_of(routine.name))
      for (const auto layout : layouts_of(family)) {
        body(symbol_of<T>(family, name), family, layout);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

class DropIn : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, DropIn, each_routine(), its_name);

TEST_P(DropIn, IsRightByEverySymbol) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_symbols(routine, [&](const std::string& symbol, const Family& family, Layout layout) {
      for_all_options(routine, [&](const Options& options) {
        const auto call = random_call_with_factors(routine, options, size, ++seed);
        if (host_reads_for_nothing(call)) return;
        ASSERT_TRUE(is_right_where_it_belongs(symbol, family, layout, call));
      });
    });
  });
}

TEST_P(DropIn, IsRightForSizesAroundATile) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_sizes(routine, {0, 1, tile, 3 * tile + 1}, [&](const Extent& extent) {
      for (const auto layout : {Layout::ColMajor, Layout::RowMajor}) {
        const auto& family = layout == Layout::ColMajor ? families.front() : families[4];
        const auto call = random_call_with_factors(routine, {}, extent, ++seed);
        if (host_reads_for_nothing(call)) continue;
        ASSERT_TRUE(symbol_is_right(symbol_of<T>(family, routine.name), family, layout, call));
      }
    });
  });
}

class DropInBeta : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, DropInBeta, each_routine([](const auto& r) { return r.has("beta"); }), its_name);

/// C is full of NaN with different payloads, including the part that is not overwritten.
TEST_P(DropInBeta, ZeroNeverReadsC) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_symbols(routine, [&](const std::string& symbol, const Family& family, Layout layout) {
      for_all_options(routine, [&](const Options& options) {
        const auto call = random_call(routine, options, size, ++seed, T(-2), T(0));
        for (Index j = 0; j < call.C.n(); j++)
          for (Index i = 0; i < call.C.m(); i++) ASSERT_TRUE(std::isnan(std::real(call.C(i, j))));
        ASSERT_TRUE(is_right_where_it_belongs(symbol, family, layout, call));
      });
    });
  });
}

TEST_P(DropIn, AlphaZeroNeverReadsItsInputs) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_symbols(routine, [&](const std::string& symbol, const Family& family, Layout layout) {
      for_all_options(routine, [&](const Options& options) {
        const auto call = random_call(routine, options, size, ++seed, T(0), T(3));
        if (host_reads_for_nothing(call)) return;
        ASSERT_TRUE(symbol_is_right(symbol, family, layout, call));
      });
    });
  });
}

/// OpenBLAS's op 'R', the conjugate without a transpose. No other BLAS has it, so these calls go to the host.
TEST(DropInBeyondTheStandard, OpR) {
  const int n = 3;
  using Z = std::complex<double>;
  const std::vector<Z> A{{1, 2}, {0, 1}, {3, 0}, {1, 1}, {2, 0}, {0, 5}, {4, 4}, {1, 0}, {0, 2}};
  std::vector<Z> identity(9), C(9);
  identity[0] = identity[4] = identity[8] = 1;
  const Z one = 1, zero = 0;
  using Gemm = void(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
                    const void*, const int*, const void*, void*, const int*);
  reinterpret_cast<Gemm*>(address_of("zgemm_"))("R", "N", &n, &n, &n, &one, A.data(), &n, identity.data(), &n, &zero,
                                                C.data(), &n);
  for (std::size_t i = 0; i < 9; i++) EXPECT_EQ(C[i], std::conj(A[i]));
}

/// Checks after all tests whether StarPU has started.
class Started : public ::testing::Environment {
 public:
  void TearDown() override { EXPECT_EQ(starpu_is_initialized() != 0, !on_host()); }
};
const auto* const started = ::testing::AddGlobalTestEnvironment(new Started);

}  // namespace
}  // namespace tessera::test
