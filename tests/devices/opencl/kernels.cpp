// SPDX-License-Identifier: BSD-3-Clause
// Tessera's own OpenCL kernels, called directly on parts of a matrix.
#include "devices/opencl/kernels.hpp"

#include <cmath>
#include <limits>

#include "devices/cpu/host_blas.hpp"
#include "devices/opencl/found_devices.hpp"
#include "support/operands.hpp"
#include "support/options.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

using common::Part;

/// A device, and a copy of a matrix on it.
template <Scalar T>
class OpenClKernels : public ::testing::Test {
 protected:
  device::opencl::Place upload(const HostMatrix<T>& A) {
    buffers_.push_back(device::opencl::new_buffer(context_.get(), bytes(A)));
    auto* const buffer = buffers_.back().get();
    device::opencl::require(
        clEnqueueWriteBuffer(queue_.get(), buffer, CL_TRUE, 0, bytes(A), A.data(), 0, nullptr, nullptr), "a copy");
    return {buffer, 0, static_cast<std::size_t>(A.ld())};
  }
  HostMatrix<T> download(const device::opencl::Place& from, const HostMatrix<T>& like) {
    auto A = like;
    device::opencl::require(
        clEnqueueReadBuffer(queue_.get(), from.buffer, CL_TRUE, 0, bytes(A), A.data(), 0, nullptr, nullptr), "a copy");
    return A;
  }
  static std::size_t bytes(const HostMatrix<T>& A) { return static_cast<std::size_t>(A.ld() * A.n()) * sizeof(T); }

  cl_device_id device_ = device::opencl::listed(device::opencl::Kinds::All).at(0);
  device::opencl::Context context_ = device::opencl::new_context(device_);
  device::opencl::Queue queue_ = device::opencl::new_queue(context_.get(), device_);
  device::opencl::Kernels<T> kernels_{context_.get(), device_};

 private:
  std::vector<device::opencl::Buffer> buffers_;
};
TYPED_TEST_SUITE(OpenClKernels, ScalarTypes);

/// Calls body(part, is_in(i, j)) for tiles whose row `first` contains the first diagonal element.
template <typename Body>
void for_all_parts(Body body) {
  struct Shape {
    int m, n, first;
  };
  for (const auto& [m, n, first] : {Shape{1, 1, 0}, {40, 40, 0}, {70, 33, 20}, {8, 3, 5}})
    for (const Part part : {Part::All, Part::Lower, Part::Upper})
      body(device::opencl::PartOf{m, n, part, first}, [part, first = first](Index i, Index j) {
        return part == Part::All || (part == Part::Lower ? i >= first + j : i <= first + j);
      });
}

TYPED_TEST(OpenClKernels, ScaleAPart) {
  using T = TypeParam;
  for_all_parts([&](const device::opencl::PartOf& part, auto is_in) {
    for (const T beta : {T{}, T(1), T(-3)}) {
      const auto before = integer_matrix<T>(1, part.m, part.n, 3);
      auto expected = before;
      const auto C = this->upload(before);
      for (Index j = 0; j < part.n; j++)
        for (Index i = 0; i < part.m; i++)
          if (is_in(i, j)) expected(i, j) *= beta;
      ASSERT_EQ(this->kernels_.scale(this->queue_.get(), part, beta, C), CL_SUCCESS);
      ASSERT_TRUE(this->download(C, before).equals(expected)) << part.m << ' ' << static_cast<int>(part.part);
    }
  });
}

TYPED_TEST(OpenClKernels, AddToAPart) {
  using T = TypeParam;
  for_all_parts([&](const device::opencl::PartOf& part, auto is_in) {
    for (const T beta : {T{}, T(1), T(-3)}) {
      const auto D = integer_matrix<T>(1, part.m, part.n, 1), before = integer_matrix<T>(2, part.m, part.n, 3);
      auto expected = before;
      for (Index j = 0; j < part.n; j++)
        for (Index i = 0; i < part.m; i++)
          if (is_in(i, j)) expected(i, j) = D(i, j) + beta * before(i, j);
      const auto C = this->upload(before);
      ASSERT_EQ(this->kernels_.add(this->queue_.get(), part, this->upload(D), beta, C), CL_SUCCESS);
      ASSERT_TRUE(this->download(C, before).equals(expected)) << part.m << ' ' << static_cast<int>(part.part);
    }
  });
}

TYPED_TEST(OpenClKernels, DoNotReadWithAFactorOfZero) {
  using T = TypeParam;
  constexpr int n = 20;
  HostMatrix<T> unread(n, n), zeros(n, n);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) unread(i, j) = std::numeric_limits<Real<T>>::quiet_NaN(), zeros(i, j) = T{};
  const auto D = integer_matrix<T>(1, n, n);
  const auto zero = this->upload(unread), sum = this->upload(unread);
  ASSERT_EQ(this->kernels_.scale(this->queue_.get(), {n, n}, T{}, zero), CL_SUCCESS);
  ASSERT_EQ(this->kernels_.add(this->queue_.get(), {n, n}, this->upload(D), T{}, sum), CL_SUCCESS);
  EXPECT_TRUE(this->download(zero, unread).equals(zeros));
  EXPECT_TRUE(this->download(sum, D).equals(D));
}

/// Calls body(triangle) for all forms of a triangle and several sizes.
template <typename Body>
void for_all_triangles(Body body) {
  for (const Side side : all_sides)
    for (const Uplo uplo : all_uplos)
      for (const Op op : all_ops)
        for (const Diag diag : all_diags)
          for (const int order : {1, 37, device::opencl::largest_triangle})
            for (const int others : {1, 35}) {
              const bool left = side == Side::Left;
              body(device::opencl::TriangleOf{side, uplo, op, diag, left ? order : others, left ? others : order,
                                              false});
            }
}

/// Integers in the triangle, and powers of two on its diagonal, so that nothing is rounded; NaN in the unused elements.
template <Scalar T>
HostMatrix<T> exact_triangle(const device::opencl::TriangleOf& triangle) {
  const int order = triangle.order();
  auto A = integer_matrix<T>(1, order, order, 3, 1);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) {
      const bool used = is_meant(Structure::Triangular, {.uplo = triangle.uplo, .diag = triangle.diag}, i, j);
      if (!used) A(i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
      else if (i == j) A(i, j) = T(static_cast<Real<T>>(i % 2 == 0 ? 2 : -1));
    }
  return A;
}

TYPED_TEST(OpenClKernels, MultiplyByATriangleAndSolveWithIt) {
  using T = TypeParam;
  const T factor(2);
  for_all_triangles([&](device::opencl::TriangleOf triangle) {
    const auto A = exact_triangle<T>(triangle);
    const auto X = integer_matrix<T>(2, triangle.m, triangle.n, 5);
    auto product = X;
    device::cpu::trmm<T>(triangle.side, triangle.uplo, triangle.op, triangle.diag, triangle.m, triangle.n, factor,
                         A.data(), static_cast<int>(A.ld()), product.data(), static_cast<int>(product.ld()));
    const auto a = this->upload(A), b = this->upload(X);
    ASSERT_EQ(this->kernels_.apply(this->queue_.get(), triangle, factor, a, b), CL_SUCCESS);
    ASSERT_TRUE(this->download(b, X).equals(product)) << triangle.m << ' ' << triangle.n;
    triangle.inverse = true;
    ASSERT_EQ(this->kernels_.apply(this->queue_.get(), triangle, T(1) / factor, a, b), CL_SUCCESS);
    ASSERT_TRUE(this->download(b, X).equals(X)) << triangle.m << ' ' << triangle.n;
  });
}

TYPED_TEST(OpenClKernels, SolveWithALargeAndASmallDiagonal) {
  using T = TypeParam;
  const auto size = std::sqrt(std::numeric_limits<Real<T>>::max());  // its square would overflow with complex numbers
  for (const Real<T> magnitude : {size * 2, 1 / (size * 2)}) {
    HostMatrix<T> A(1, 1), B(1, 1);
    T direction(1);
    if constexpr (is_complex<T>) direction = T(1, -2);
    A(0, 0) = B(0, 0) = magnitude * direction;
    const auto b = this->upload(B);
    const device::opencl::TriangleOf triangle{Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, 1, 1, true};
    ASSERT_EQ(this->kernels_.apply(this->queue_.get(), triangle, T(1), this->upload(A), b), CL_SUCCESS);
    EXPECT_LE(std::abs(this->download(b, B)(0, 0) - T(1)), 4 * std::numeric_limits<Real<T>>::epsilon());
  }
}

TYPED_TEST(OpenClKernels, MakeADiagonalReal) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    constexpr int n = 20;
    const auto before = integer_matrix<T>(1, n, n);
    auto expected = before;
    for (Index i = 0; i < n; i++) expected(i, i) = std::real(before(i, i));
    const auto C = this->upload(before);
    ASSERT_EQ(this->kernels_.clear_imaginary_diagonal(this->queue_.get(), n, C), CL_SUCCESS);
    EXPECT_TRUE(this->download(C, before).equals(expected));
    auto spoilt = before;  // what is there must not spread
    for (Index i = 0; i < n; i++) spoilt(i, i) = T(2, std::numeric_limits<Real<T>>::quiet_NaN());
    const auto S = this->upload(spoilt);
    device::opencl::PartOf part{n, n, Part::Lower};
    part.real_diagonal = true;
    ASSERT_EQ(this->kernels_.scale(this->queue_.get(), part, T(3), S), CL_SUCCESS);
    const auto scaled = this->download(S, spoilt);
    for (Index i = 0; i < n; i++) EXPECT_EQ(scaled(i, i), T(6));
  }
}

}  // namespace
}  // namespace tessera::test
