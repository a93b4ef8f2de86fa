// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "support/dense.hpp"

/// Residuals of factorizations and inverses, as LAPACK's testers define them. u is the unit roundoff.
namespace tessera::test {

/// Returns 0 if the difference is 0, including empty and zero matrices.
inline double relative(double difference, double scale) { return difference == 0 ? 0 : difference / scale; }

/// max|P A − L U| / (n ‖A‖ u)
template <Scalar T, typename Int>
double residual(const Dense<T>& before, const Dense<T>& factors, const std::vector<Int>& pivots) {
  const Index m = before.m, n = before.n, k = std::min(m, n);
  if (k == 0) return 0;
  Dense<T> L(m, k), U(k, n), permuted = packed(before);
  for (Index j = 0; j < k; j++)
    for (Index i = 0; i < m; i++) L(i, j) = i < j ? T{} : i == j ? T(1) : factors(i, j);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < k; i++) U(i, j) = i > j ? T{} : factors(i, j);
  for (Index i = 0; i < k; i++)
    for (Index j = 0; j < n; j++)
      std::swap(permuted(i, j), permuted(static_cast<Index>(pivots[static_cast<std::size_t>(i)]) - 1, j));
  multiply(L, U, Op::NoTrans, permuted);
  return relative(largest(permuted), static_cast<double>(std::max(m, n)) * norm(before) * unit<T>);
}

/// max|A − L Lᴴ| / (n ‖A‖ u), where `factor` contains the factor in the triangle that `before` had in its place.
template <Scalar T>
double residual(const Dense<T>& before, const Dense<T>& factor, Uplo uplo) {
  const Index n = before.n;
  if (n == 0) return 0;
  Dense<T> L(n, n), difference = packed(before);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) L(i, j) = i < j ? T{} : uplo == Uplo::Lower ? factor(i, j) : conjugate(factor(j, i));
  multiply(L, L, Op::ConjTrans, difference);
  return largest(difference) / (static_cast<double>(n) * norm(before) * unit<T>);
}

inline bool inside(Uplo uplo, Index i, Index j) { return uplo == Uplo::Lower ? i >= j : i <= j; }

/// Fills the elements that a call does not name with NaN: they must be neither read nor written.
template <Scalar T>
Dense<T> without_rest(Dense<T> A, Uplo uplo, Diag diag = Diag::NonUnit) {
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.n; i++)
      if (!inside(uplo, i, j) || (i == j && diag == Diag::Unit)) A(i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  return A;
}

/// Whether all elements that a call does not name are bitwise unchanged.
template <Scalar T>
bool rest_is_unchanged(const Dense<T>& before, Dense<T> after, Uplo uplo, Diag diag = Diag::NonUnit) {
  for (Index j = 0; j < after.n; j++)
    for (Index i = 0; i < after.n; i++)
      if (inside(uplo, i, j) && (i != j || diag == Diag::NonUnit)) after(i, j) = before(i, j);
  return std::memcmp(before.data.data(), after.data.data(), before.data.size() * sizeof(T)) == 0;
}

/// Only the triangle, column-major: the other triangle is zero, and a unit diagonal is ones.
template <Scalar T>
Dense<T> triangle_of(const Dense<T>& A, Uplo uplo, Diag diag = Diag::NonUnit) {
  Dense<T> result(A.n, A.n);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.n; i++)
      result(i, j) = i == j && diag == Diag::Unit ? T(1) : inside(uplo, i, j) ? A(i, j) : T{};
  return result;
}

/// The Hermitian matrix of which one triangle is stored.
template <Scalar T>
Dense<T> hermitian(const Dense<T>& A, Uplo uplo) {
  Dense<T> result(A.n, A.n);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.n; i++) result(i, j) = inside(uplo, i, j) ? A(i, j) : conjugate(A(j, i));
  return result;
}

template <Scalar T>
Dense<T> identity(Index n) {
  Dense<T> I(n, n);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) I(i, j) = i == j ? T(1) : T{};
  return I;
}

/// max|A X − I| / (n ‖A‖ ‖X‖ u)
template <Scalar T>
double residual_of_inverse(const Dense<T>& A, const Dense<T>& X) {
  return residual_of_solution(A, identity<T>(A.n), X);
}

}  // namespace tessera::test
