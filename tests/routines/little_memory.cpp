// SPDX-License-Identifier: BSD-3-Clause
// Calls on GPUs with a MiB of memory, where even the smallest of the tiles that are otherwise compared have no room: a
// task would wait for memory forever. CMakeLists.txt sets TESSERA_GPU_MEMORY.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <tessera/lapack.hpp>

#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

class ProductsInLittleMemory : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, ProductsInLittleMemory, each_routine(), its_name);

TEST_P(ProductsInLittleMemory, AreExact) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& size : {Extent{300, 270, 290}, Extent{1, 700, 3}}) {
      const auto before = integer_call(routine, Options{}, size, 7);
      auto after = before;
      run_as(before, [&] { routine.on_pointers(after.arguments()); });
      EXPECT_TRUE(result_is_that_of_the_host(before, after));
    }
  });
}

constexpr Index n = 300;

/// A symmetric positive definite matrix whose rows have different sums.
std::vector<double> system_matrix() {
  std::vector<double> A(static_cast<std::size_t>(n * n));
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++)
      A[static_cast<std::size_t>(i + j * n)] = (i == j ? n : 0) + 1.0 / static_cast<double>(1 + std::abs(i - j));
  return A;
}
/// A times a matrix of ones.
std::vector<double> right_sides(const std::vector<double>& A, Index nrhs) {
  std::vector<double> B(static_cast<std::size_t>(n * nrhs));
  for (Index j = 0; j < nrhs; j++)
    for (Index k = 0; k < n; k++)
      for (Index i = 0; i < n; i++) B[static_cast<std::size_t>(i + j * n)] += A[static_cast<std::size_t>(i + k * n)];
  return B;
}

/// @param solve  (A, B, nrhs): returns info
template <typename Solve>
void expect_solved(Solve solve) {
  for (const Index nrhs : {Index{1}, Index{280}}) {
    auto A = system_matrix(), B = right_sides(A, nrhs);
    ASSERT_EQ(solve(A.data(), B.data(), nrhs), 0);
    for (const double x : B) ASSERT_NEAR(x, 1, 1e-10);
  }
}

TEST(SystemsInLittleMemory, AreSolved) {
  std::vector<std::int64_t> pivots(n);
  for (const auto uplo : {Uplo::Lower, Uplo::Upper})
    expect_solved([&](double* A, double* B, Index nrhs) { return posv(uplo, n, nrhs, A, n, B, n); });
  expect_solved([&](double* A, double* B, Index nrhs) { return gesv(n, nrhs, A, n, pivots.data(), B, n); });
  expect_solved([&](double* A, double* B, Index nrhs) { return gesv_nopiv(n, nrhs, A, n, B, n); });
  expect_solved([&](double* A, double* B, Index nrhs) { return gels(Op::NoTrans, n, n, nrhs, A, n, B, n); });
}

/// @param invert  (A): returns info
template <typename Invert>
void expect_inverted(Invert invert) {
  auto A = system_matrix();
  const auto ones = std::vector<double>(n, 1), sums = right_sides(A, 1);
  ASSERT_EQ(invert(A.data()), 0);
  for (Index i = 0; i < n; i++) {
    double x = 0;
    for (Index j = 0; j < n; j++)
      x += A[static_cast<std::size_t>(std::max(i, j) + std::min(i, j) * n)] * sums[static_cast<std::size_t>(j)];
    ASSERT_NEAR(x, 1, 1e-10);
  }
}

TEST(SystemsInLittleMemory, AreInverted) {
  std::vector<std::int64_t> pivots(n);
  expect_inverted([](double* A) {
    const Index info = potrf(Uplo::Lower, n, A, n);
    return info != 0 ? info : potri(Uplo::Lower, n, A, n);
  });
  expect_inverted([&](double* A) {
    const Index info = getrf(n, n, A, n, pivots.data());
    return info != 0 ? info : getri(n, A, n, pivots.data());
  });
}

// Two columns of the panels need more than a MiB.
TEST(SystemsInLittleMemory, AreRefusedIfNoColumnFits) {
  if (gpu_count() == 0) GTEST_SKIP() << "no GPU";
  constexpr Index m = 200000;
  std::vector<double> A(2 * m, 1), tau(2);
  std::vector<std::int64_t> pivots(2);
  EXPECT_THROW(getrf(m, 2, A.data(), m, pivots.data()), RuntimeError);
  EXPECT_THROW(geqrf(m, 2, A.data(), m, tau.data()), RuntimeError);
}

}  // namespace
}  // namespace tessera::test
