// SPDX-License-Identifier: BSD-3-Clause
// A GPU computes in the program's own GPU memory, where other tiles lie between the columns of a tile. Operations that
// read a whole tile must read no other.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <tessera/blas.hpp>

#include "codelets/codelet.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "sinks/submit.hpp"
#include "support/on_gpu.hpp"
#include "support/operands.hpp"
#include "support/tiled.hpp"

namespace tessera::test::in_place_cpp {
namespace {

template <Scalar T>
class InPlace : public ::testing::Test {};
TYPED_TEST_SUITE(InPlace, ScalarTypes);

template <Scalar T>
Matrix<T> tiled(const OnGpu<T>& there, const HostMatrix<T>& A, TileSize tile) {
  return {there.data(), A.m(), A.n(), A.ld(), tile};
}

TYPED_TEST(InPlace, TheLargestElementIsOfTheTile) {
  using T = TypeParam;
  HostMatrix<T> A(90, 70);
  std::fill_n(A.data(), A.ld() * A.n(), T(1));
  A(50, 3) = T(100);  // in the tile below, but among the first elements in memory
  A(5, 60) = T(7);
  const OnGpu<T> there(A);
  const auto session = runtime::session();
  const auto a = tiled(there, A, {30, 70});
  codelets::GrowthValue value;
  value.add(codelets::GrowthValue::Matrix, 1);
  std::int64_t result = 0;
  starpu_data_handle_t handle = nullptr;
  starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&result), sizeof result);
  const codelets::GrowthArgs args{{30 * 70, type_letter<T>}, common::Part::All, codelets::GrowthValue::Factor, &value};
  sinks::Submitter(*session, a)
      .submit(codelets::growth(type_letter<T>), {{a.handle(0, 0), STARPU_RW}, {handle, STARPU_R}}, args, -1);
  a.wait();
  starpu_data_unregister(handle);
  EXPECT_EQ(std::bit_cast<double>(value.bits()), 7);
}

TYPED_TEST(InPlace, AnInfinityReachesOnlyWhatDependsOnIt) {
  using T = TypeParam;
  constexpr Index order = 612, tile = 512, others = 8, special = 200;  // several diagonal blocks in a tile
  HostMatrix<T> A(order, order);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) A(i, j) = i == j ? T(2) : T(Real<T>(1) / order);
  const OnGpu<T> a(A);
  for (const bool solve : {false, true}) {
    HostMatrix<T> B(order, others);
    std::fill_n(B.data(), B.ld() * B.n(), T(1));
    B(special, others - 1) = T(std::numeric_limits<Real<T>>::infinity());
    const OnGpu<T> b(B);
    const auto triangle = tiled(a, A, {tile, tile}), right = tiled(b, B, {tile, others});
    if (solve) trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), triangle, right);
    else trmm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), triangle, right);
    right.wait();
    b.bring_back(B);
    for (Index j = 0; j < others; j++)
      for (Index i = 0; i < order; i++)
        ASSERT_EQ(std::isfinite(std::abs(B(i, j))), j < others - 1 || i < special)
            << (solve ? "trsm" : "trmm") << " (" << i << ", " << j << ") is " << B(i, j);
  }
}

}  // namespace
}  // namespace tessera::test::in_place_cpp
