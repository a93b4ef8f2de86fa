// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "scenario.hpp"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
}

/// The calls that scenarios make, through Fortran symbols, as in programs that do not know Tessera.
namespace tessera::test {

using Matrix = std::vector<double>;

/// An n×n matrix of random integers from −4 to 4, so that sums of products are exact.
inline Matrix integers(int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Matrix A(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (auto& a : A) a = static_cast<double>(random() % 9) - 4;
  return A;
}

/// A x, where `element(i, j)` returns the elements of A, which may be stored as a triangle.
template <typename Element>
std::vector<double> times(int n, const std::vector<double>& x, Element element) {
  std::vector<double> y(x.size());
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) y[static_cast<std::size_t>(i)] += element(i, j) * x[static_cast<std::size_t>(j)];
  return y;
}

inline std::vector<double> random_vector(int n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::vector<double> x(static_cast<std::size_t>(n));
  for (auto& value : x) value = static_cast<double>(random() % 2001) - 1000;
  return x;
}

inline auto dense(const Matrix& A, int n) {
  return [&A, n](int i, int j) {
    return A[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * A.size() / static_cast<std::size_t>(n)];
  };
}
inline auto lower(const Matrix& A, int n, double unit = 0) {  // unit: value of the diagonal; 0: the stored one
  return [=, &A](int i, int j) { return i < j ? 0 : i == j && unit != 0 ? unit : dense(A, n)(i, j); };
}

/// Computes C ← A B + 2 C, and checks the product of the result with a random vector, exactly.
inline bool product_is_right(int n, std::uint64_t seed = 1) {
  const auto A = integers(n, seed), B = integers(n, seed + 1), before = integers(n, seed + 2);
  auto C = before;
  const double one = 1, two = 2;
  dgemm_("N", "N", &n, &n, &n, &one, A.data(), &n, B.data(), &n, &two, C.data(), &n);
  const auto x = random_vector(n), y = times(n, times(n, x, dense(B, n)), dense(A, n)),
             old = times(n, x, dense(before, n)), now = times(n, x, dense(C, n));
  for (std::size_t i = 0; i < now.size(); i++)
    if (now[i] != y[i] + 2 * old[i]) return false;
  return true;
}

/// Computes the lower triangle of C ← A Aᵀ − C, and checks both triangles: the upper one must not change.
inline bool update_is_right(int n, std::uint64_t seed = 1) {
  const auto A = integers(n, seed), before = integers(n, seed + 2);
  auto C = before;
  const double one = 1, minus = -1;
  dsyrk_("L", "N", &n, &n, &one, A.data(), &n, &minus, C.data(), &n);
  const auto symmetric = [n](const Matrix& S) {
    return [&S, n](int i, int j) { return dense(S, n)(std::max(i, j), std::min(i, j)); };
  };
  const auto transposed = [&](int i, int j) { return dense(A, n)(j, i); };
  const auto x = random_vector(n), y = times(n, times(n, x, transposed), dense(A, n)),
             old = times(n, x, symmetric(before)), now = times(n, x, symmetric(C));
  for (std::size_t i = 0; i < now.size(); i++)
    if (now[i] != y[i] - old[i]) return false;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < j; i++)
      if (dense(C, n)(i, j) != dense(before, n)(i, j)) return false;
  return true;
}

/// Solves A X = 4 B, and checks X exactly. A is a unit lower triangle; only every third row has elements off the
/// diagonal.
inline bool solution_is_right(int n, std::uint64_t seed = 1) {
  auto A = integers(n, seed);
  for (std::size_t j = 0; j < static_cast<std::size_t>(n); j++)
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++)
      if (i % 3 != 2 || j % 3 == 2) A[i + j * static_cast<std::size_t>(n)] = 0;
  const auto before = integers(n, seed + 1);
  auto X = before;
  const double four = 4;
  dtrsm_("L", "L", "N", "U", &n, &n, &four, A.data(), &n, X.data(), &n);
  const auto x = random_vector(n), y = times(n, times(n, x, dense(X, n)), lower(A, n, 1)),
             old = times(n, x, dense(before, n));
  for (std::size_t i = 0; i < y.size(); i++)
    if (y[i] != 4 * old[i]) return false;
  return true;
}

}  // namespace tessera::test
