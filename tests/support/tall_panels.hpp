// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "support/dense.hpp"

/// Matrices with many rows and few columns, each difficult to factorize for a different reason.
namespace tessera::test {

/// A random matrix with singular values of about 1, times a matrix with singular values from 1 to 1 / condition.
template <Scalar T>
Dense<T> with_condition(Index m, Index n, double condition, std::uint64_t seed) {
  auto A = random_matrix<T>(m, n, seed);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++)
      A(i, j) *= static_cast<Real<T>>(std::pow(condition, -static_cast<double>(j) / static_cast<double>(n - 1)));
  // A reflection mixes all columns.
  const auto v = [](Index j) { return static_cast<Real<T>>(1 + j % 3); };
  Real<T> square = 0;
  for (Index j = 0; j < n; j++) square += v(j) * v(j);
  for (Index i = 0; i < m; i++) {
    T sum{};
    for (Index j = 0; j < n; j++) sum += A(i, j) * v(j);
    for (Index j = 0; j < n; j++) A(i, j) -= sum * (2 / square * v(j));
  }
  return A;
}

template <Scalar T>
std::map<std::string, Dense<T>> tall_panels(Index m, Index n) {
  std::map<std::string, Dense<T>> all;
  const auto add = [&](const std::string& name, const Dense<T>& A, auto change) {
    auto& changed = all.emplace(name, A).first->second;
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) change(changed(i, j), i, j);
  };
  for (const double condition : {1e0, 1e2, 1e4, 1e8, 1e12, 1e16}) {
    std::string name = "condition " + std::to_string(std::lround(std::log10(condition)));
    all.emplace(name, with_condition<T>(m, n, condition, 1));
  }
  const auto A = random_matrix<T>(m, n, 2);
  const auto power = [n](double x, Index j) {
    return static_cast<Real<T>>(std::pow(x, static_cast<double>(j) / static_cast<double>(n)));
  };
  add("graded down", A, [&](T& x, Index, Index j) { x *= power(1e-12, j); });
  add("graded up", A, [&](T& x, Index, Index j) { x *= power(1e12, j); });
  add("graded rows", A, [&](T& x, Index i, Index) { x *= power(1e-12, i * n / m); });
  add("of rank 5", A, [&](T& x, Index i, Index j) { x = A(i, j % 5); });
  add("a repeated column", A, [&](T& x, Index i, Index j) { x = A(i, j == n - 1 ? 0 : j); });
  add("a column of zeros", A, [&](T& x, Index, Index j) { x = j == n / 2 ? T{} : x; });
  add("zeros", A, [](T& x, Index, Index) { x = T{}; });
  add("tiny", A, [](T& x, Index, Index) { x *= std::numeric_limits<Real<T>>::min() * 1000; });
  add("large", A, [](T& x, Index, Index) { x *= std::numeric_limits<Real<T>>::max() / Real<T>(1e6); });
  const auto one = [&](const char* name, Real<T> value) {
    add(name, A, [=](T& x, Index i, Index j) { x = i == m / 2 && j == n / 2 ? T(value) : x; });
  };
  one("a NaN", std::numeric_limits<Real<T>>::quiet_NaN());
  one("an infinity", std::numeric_limits<Real<T>>::infinity());
  return all;
}

}  // namespace tessera::test
