// SPDX-License-Identifier: BSD-3-Clause
// The codelet `add`, called directly: C <- D + beta C on a tile or on a triangle of one. It joins the partial sums of a
// result.
#include <limits>

#include "codelets/codelet.hpp"
#include "runtime/process_session.hpp"
#include "sinks/submit.hpp"
#include "support/operands.hpp"
#include "support/tiled.hpp"

namespace tessera::test::add_cpp {
namespace {

using common::Part;

template <Scalar T>
void add(const HostMatrix<T>& D, Part part, int first_row, T beta, HostMatrix<T>& C, bool real_diagonal = false) {
  const TileSize whole{D.m(), D.n()};
  const auto d = tiled(D, whole), c = tiled(C, whole);
  const codelets::ScaleArgs args{
      {static_cast<double>(D.m() * D.n()), type_letter<T>}, part, first_row, real_diagonal, beta};
  sinks::Submitter(*runtime::session(), c)
      .submit(codelets::add(type_letter<T>), {{d.handle(0, 0), STARPU_R}, {c.handle(0, 0), STARPU_RW}}, args, -1);
  c.wait();
}

template <Scalar T>
class Add : public ::testing::Test {};
TYPED_TEST_SUITE(Add, ScalarTypes);

TYPED_TEST(Add, IsExactOnIntegers) {
  using T = TypeParam;
  constexpr Index m = 7, n = 5;
  const auto D = integer_matrix<T>(1, m, n);
  auto C = integer_matrix<T>(2, m, n, 3), expected = C;
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) expected(i, j) = D(i, j) + T(-2) * expected(i, j);
  add(D, Part::All, 0, T(-2), C);
  EXPECT_TRUE(C.equals(expected));
}

/// Tiles whose row `first_row` contains the first diagonal element.
TYPED_TEST(Add, LeavesTheOtherTriangleAlone) {
  using T = TypeParam;
  struct Shape {
    Index m, n;
    int first_row;
  };
  for (const auto& [m, n, first_row] : {Shape{1, 1, 0}, {5, 5, 0}, {77, 77, 0}, {9, 4, 0}, {200, 77, 60}, {8, 3, 5}})
    for (const Uplo uplo : all_uplos)
      for (const T beta : {T(1), T(-2)}) {
        auto D = integer_matrix<T>(1, m, n, 1), C = integer_matrix<T>(2, m, n, 3);
        const auto computed = [&](Index i, Index j) { return in_triangle(uplo, i, first_row + j); };
        for (Index j = 0; j < n; j++)
          for (Index i = 0; i < m; i++)
            if (!computed(i, j)) C(i, j) = D(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
        const auto before = C;
        add(D, common::part_of(uplo), first_row, beta, C);
        for (Index j = 0; j < n; j++)
          for (Index i = 0; i < m; i++)
            if (computed(i, j)) {
              ASSERT_EQ(C(i, j), D(i, j) + beta * before(i, j)) << "m " << m << ", n " << n << ", beta " << beta;
              C(i, j) = before(i, j);
            }
        ASSERT_TRUE(C == before) << "m " << m << ", n " << n << ", uplo " << static_cast<char>(uplo);
      }
}

/// The imaginary parts of a Hermitian C's diagonal may have any value.
TYPED_TEST(Add, IgnoresTheImaginaryPartsOfARealDiagonal) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    constexpr int n = 77, first_row = 60;
    for (const Uplo uplo : all_uplos) {
      auto D = integer_matrix<T>(1, 200, n), C = integer_matrix<T>(2, 200, n);
      for (Index j = 0; j < n; j++) {
        D(first_row + j, j) = std::real(D(first_row + j, j));
        C(first_row + j, j) = std::real(C(first_row + j, j));
      }
      auto expected = C;
      add(D, common::part_of(uplo), first_row, T(-2), expected);
      for (Index j = 0; j < n; j++) C(first_row + j, j).imag(std::numeric_limits<Real<T>>::quiet_NaN());
      add(D, common::part_of(uplo), first_row, T(-2), C, true);
      EXPECT_TRUE(C == expected) << static_cast<char>(uplo);
    }
  }
}

}  // namespace
}  // namespace tessera::test::add_cpp
