// SPDX-License-Identifier: BSD-3-Clause
// What tessera-bench --check requires of the solution if a least squares problem has many.
#include "tools/workload/smallest_solution.hpp"

#include <gtest/gtest.h>

#include "devices/cpu/host_lapack.hpp"
#include "support/dense.hpp"
#include "support/tested_types.hpp"

namespace tessera::test::smallest_solution_cpp {
namespace {

template <typename T>
class SmallestSolution : public ::testing::Test {};
TYPED_TEST_SUITE(SmallestSolution, ScalarTypes);

template <Scalar T>
bench::Operand<T> operand(const Dense<T>& A) {
  return {.data = A.data.data(), .ld = A.ld};
}

TYPED_TEST(SmallestSolution, IsDistinguishedFromOthers) {
  using T = TypeParam;
  constexpr int m = 30, n = 70;
  const auto A = random_matrix<T>(m, n, 1), B = random_matrix<T>(n, 1, 2);
  std::vector<T> work(100 * n);
  const auto solve = [&](int columns, Dense<T>& factors, Dense<T>& X) {
    ASSERT_EQ(device::cpu::gels(Op::NoTrans, m, columns, 1, factors.data.data(), m, X.data.data(), n, work.data(),
                                static_cast<int>(std::ssize(work))),
              0);
  };
  const auto departure = [&](const Dense<T>& factors, const Dense<T>& X) {
    bench::BoundedVector<T> x(n);
    for (Index i = 0; i < n; i++) x.x[static_cast<std::size_t>(i)] = bench::widen(X(i, 0));
    return bench::departure_from_smallest<T>(operand(A), m, norm(A), operand(factors), x);
  };
  auto factors = A, X = B;
  solve(n, factors, X);
  EXPECT_LE(departure(factors, X), n * unit<T>);
  auto of_first_columns = A, Y = B;
  solve(m, of_first_columns, Y);  // A y = b as well
  for (Index i = m; i < n; i++) Y(i, 0) = T{};
  EXPECT_GT(departure(factors, Y), 1e3 * n * unit<T>);
  EXPECT_GT(departure(of_first_columns, X), 1e3 * n * unit<T>) << "with the factors of another matrix";
}

}  // namespace
}  // namespace tessera::test::smallest_solution_cpp
