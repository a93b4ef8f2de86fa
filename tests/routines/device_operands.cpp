// SPDX-License-Identifier: BSD-3-Clause
// Operands in the memory of a GPU that the session does not use are refused before anything is accessed, in C++ and in
// C. Operands in managed memory are accepted.
#include <tessera/tessera.h>
#include <tessera/lapack.hpp>

#include "support/argument.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"
#include "support/stand_in_driver.hpp"

namespace tessera::test::device_operands_cpp {
namespace {

const auto* const runtime = share_runtime();

constexpr Extent size{6, 5, 7};
constexpr const char* problem = "points to memory of GPU 0, which Tessera does not use";
constexpr const char* not_on_host = "points to memory of a GPU";

const StandInDriver& driver() {
  static const StandInDriver one;
  return one;
}
template <typename T = double>
T* on_gpu() {
  return driver().device_memory<T>();
}

/// Expects an ArgumentError for this argument of a routine on pointers, and no access.
template <typename Call>
void refused(Call call, const std::string& routine, int position, const std::string& argument,
             const char* why = problem) {
  expect_refused<ArgumentError>(call, routine, position, argument, why);
}

template <Scalar T>
void move_to_gpu(const std::string& operand, const Routine<T>& routine, Arguments<T>& all) {
  if (operand == routine.output()) all.C = on_gpu<T>();
  else if (operand == "A") all.A = on_gpu<T>();
  else all.B = on_gpu<T>();
}

class DeviceOperands : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, DeviceOperands, each_routine(), its_name);

TEST_P(DeviceOperands, AreRefusedWhereverTheyStand) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto original = random_call(routine, {}, size, 0);
    auto with_layout = routine.arguments;
    with_layout.insert(with_layout.begin(), "layout");
    for (const auto& name : routine.arguments)
      for (const bool layout : {false, true}) {
        if (!is_operand(name)) continue;
        auto call = original;
        auto all = call.arguments();
        move_to_gpu(name, routine, all);
        expect_refused<ArgumentError>(
            [&] { layout ? routine.with_layout(Layout::ColMajor, all) : routine.on_pointers(all); }, routine.name,
            layout ? with_layout : routine.arguments, {name}, problem);
        EXPECT_TRUE(call.C == original.C);
      }
  });
}

// α = 0: A and B are not read, so they may be anywhere.
TEST_P(DeviceOperands, AreNotLookedAtIfTheyAreNotRead) {
  run([]<Scalar T>(const Routine<T>& routine) {
    auto call = random_call(routine, {}, size, 0);
    auto all = call.arguments();
    all.alpha = T{}, all.A = on_gpu<T>();
    if (routine.has_b()) all.B = on_gpu<T>();
    EXPECT_NO_THROW(routine.on_pointers(all));
  });
}

TEST_P(DeviceOperands, AreLookedUpOnceEach) {
  run([]<Scalar T>(const Routine<T>& routine) {
    static_cast<void>(on_gpu());
    auto call = random_call(routine, {}, size, 0);
    const int before = driver().look_ups();
    on_pointers(call);
    EXPECT_EQ(driver().look_ups() - before, routine.has_b() ? 3 : 2);
  });
}

TEST_P(DeviceOperands, InManagedMemoryAreComputed) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto before = random_call(routine, {}, size, 0);
    auto after = before;
    const auto elements = static_cast<std::size_t>(before.C.ld() * before.C.n());
    auto* const managed = driver().managed_memory<T>();
    std::copy_n(before.C.data(), elements, managed);
    auto all = after.arguments();
    all.C = managed;
    routine.on_pointers(all);
    std::copy_n(managed, elements, after.C.data());
    EXPECT_TRUE(result_is_right(before, after));
  });
}

TEST(DeviceMatrices, AreRefused) {
  refused([] { const Matrix<double> A(on_gpu(), 3, 3, 3, {2, 2}); }, "Matrix", 1, "data");
  refused([] { const Matrix<double> A(static_cast<const double*>(on_gpu()), 3, 3, 3, {2, 2}); }, "Matrix", 1, "data");
  EXPECT_NO_THROW(Matrix<double>(driver().managed_memory<double>(), 3, 3, 3, TileSize{2, 2}));
}

TEST(DeviceSystems, AreRefusedByFactorizations) {
  constexpr auto lower = Uplo::Lower;
  std::vector<std::int64_t> ipiv{1, 2, 3};
  refused([] { potrf(lower, 3, on_gpu(), 3); }, "potrf", 3, "A");
  refused([] { potri(lower, 3, on_gpu(), 3); }, "potri", 3, "A");
  refused([] { trtri(lower, Diag::Unit, 3, on_gpu(), 3); }, "trtri", 4, "A");
  refused([&] { getrf(3, 3, on_gpu(), 3, ipiv.data()); }, "getrf", 3, "A");
  refused([&] { getri(3, on_gpu(), 3, ipiv.data()); }, "getri", 2, "A");
  refused([&] { laswp(3, on_gpu(), 3, 1, 3, ipiv.data(), 1); }, "laswp", 2, "A");
  refused([] { getrf_nopiv(3, 3, on_gpu(), 3); }, "getrf_nopiv", 3, "A");
}

TEST(DeviceSystems, AreRefusedBySolves) {
  constexpr auto lower = Uplo::Lower;
  const std::vector<double> identity{1, 0, 0, 0, 1, 0, 0, 0, 1};
  auto A = identity, B = identity;
  std::vector<std::int64_t> ipiv{1, 2, 3};
  refused([&] { trtrs(lower, Op::NoTrans, Diag::Unit, 3, 1, on_gpu(), 3, B.data(), 3); }, "trtrs", 6, "A");
  refused([&] { potrs(lower, 3, 3, on_gpu(), 3, B.data(), 3); }, "potrs", 4, "A");
  refused([&] { potrs(lower, 3, 3, A.data(), 3, on_gpu(), 3); }, "potrs", 6, "B");
  refused([&] { posv(lower, 3, 3, A.data(), 3, on_gpu(), 3); }, "posv", 6, "B");
  refused([&] { getrs(Op::NoTrans, 3, 3, A.data(), 3, ipiv.data(), on_gpu(), 3); }, "getrs", 7, "B");
  refused([&] { gesv(Layout::RowMajor, 3, 3, A.data(), 3, ipiv.data(), on_gpu(), 3); }, "gesv", 7, "B");
  EXPECT_EQ(A, identity);
  EXPECT_EQ(B, identity);
}

TEST(DeviceSystems, HaveTheirPivotsOnTheHost) {
  std::vector<double> A{1, 0, 0, 1}, B = A;
  refused([&] { geqrf(2, 2, A.data(), 2, on_gpu()); }, "geqrf", 5, "tau", not_on_host);
  refused([&] { getrf(2, 2, A.data(), 2, on_gpu<std::int64_t>()); }, "getrf", 5, "ipiv", not_on_host);
  refused([&] { getri(2, A.data(), 2, on_gpu<std::int64_t>()); }, "getri", 4, "ipiv", not_on_host);
  refused([&] { getrs(Op::NoTrans, 2, 2, A.data(), 2, on_gpu<std::int64_t>(), B.data(), 2); }, "getrs", 6, "ipiv",
          not_on_host);
  refused([&] { laswp(2, A.data(), 2, 1, 2, on_gpu<std::int32_t>(), 1); }, "laswp", 6, "ipiv", not_on_host);
  refused([&] { getrf_nopiv(2, 2, A.data(), 2, on_gpu()); }, "getrf_nopiv", 5, "growth", not_on_host);
}

/// Expects that a call in C failed since its argument is on a GPU.
void refused_in_c(tessera_status status, int position, const std::string& argument, const char* why = not_on_host) {
  EXPECT_EQ(status, -position);
  EXPECT_THAT(tessera_last_error(), testing::HasSubstr("(" + argument + ") " + why));
}

TEST(DeviceOperandsInC, AreRefused) {
  std::vector<double> A{1, 0, 0, 1}, C = A;
  std::vector<std::complex<double>> Z(4);
  const std::complex<double> one = 1;
  refused_in_c(tessera_dgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, 2, 2, 2, 1, A.data(), 2, on_gpu(),
                             2, 0, C.data(), 2),
               10, "B", problem);
  refused_in_c(tessera_zgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, 2, 2, 2, on_gpu<void>(), Z.data(),
                             2, Z.data(), 2, &one, Z.data(), 2),
               7, "alpha");
  refused_in_c(tessera_dpotrf(TESSERA_COL_MAJOR, TESSERA_LOWER, 2, A.data(), 2, on_gpu<std::int64_t>()), 6, "info");
  std::int64_t info = 0;
  refused_in_c(tessera_dgetrf(TESSERA_COL_MAJOR, 2, 2, A.data(), 2, on_gpu<std::int64_t>(), &info), 6, "ipiv");
}

}  // namespace
}  // namespace tessera::test::device_operands_cpp
