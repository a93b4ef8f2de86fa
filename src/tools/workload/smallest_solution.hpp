// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "workload/check.hpp"

namespace tessera::bench {

/// The Euclidean norm.
template <typename W>
double norm(const std::vector<W>& x) {
  double sum = 0;
  for (const auto& element : x) sum += std::pow(static_cast<double>(magnitude(element)), 2);
  return std::sqrt(sum);
}

/// y ← (L Lᴴ)⁻¹ y
template <Scalar T>
void solve_with_both(const Operand<T>& L, std::vector<Wide<T>>& y) {
  const Index n = std::ssize(y);
  const auto at = [&](Index i) -> Wide<T>& { return y[static_cast<std::size_t>(i)]; };
  for (Index j = 0; j < n; j++) {
    at(j) /= L(j, j);
    for (Index i = j + 1; i < n; i++) at(i) -= multiply(L(i, j), at(j));
  }
  const auto adjoint = L.transposed(true);
  for (Index j = n - 1; j >= 0; j--) {
    for (Index i = j + 1; i < n; i++) at(j) -= multiply(adjoint(j, i), at(i));
    at(j) /= adjoint(j, j);
  }
}

/// The distance of x from the range of Aᴴ, which contains the smallest solution of A x = b, as the backward error of x
/// = Aᴴ y. With A = L Q, the columns of Aᴴ L⁻ᴴ are orthonormal up to the errors of L, so y converges in few steps of
/// refinement.
/// @param A  m×n, m < n
template <Scalar T>
double departure_from_smallest(const Operand<T>& A, Index m, double norm_of_a, const Operand<T>& L,
                               const BoundedVector<T>& x) {
  constexpr int steps = 4;
  std::vector<Wide<T>> y(static_cast<std::size_t>(m));
  auto rest = x;
  for (int step = 0; step < steps; step++) {
    auto more = apply<T>(A, m, rest);
    solve_with_both(L, more.x);
    for (std::size_t i = 0; i < y.size(); i++) y[i] += more.x[i];
    const auto part = apply<T>(A.transposed(true), std::ssize(x.x), more);
    for (std::size_t i = 0; i < rest.x.size(); i++) rest.x[i] -= part.x[i];
  }
  return relative(norm(rest.x), norm_of_a * norm(y) + norm(x.x));
}

}  // namespace tessera::bench
