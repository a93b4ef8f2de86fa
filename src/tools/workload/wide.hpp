// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <mutex>
#include <vector>

#include <tessera/types.hpp>

#include "workload/parallel.hpp"

/// Products in wider arithmetic than the type under test.
namespace tessera::bench {

template <Scalar T>
using WideReal = std::conditional_t<std::same_as<Real<T>, float>, double, long double>;
template <Scalar T>
using Wide = std::conditional_t<is_complex<T>, std::complex<WideReal<T>>, WideReal<T>>;

template <Scalar T>
Wide<T> widen(T x) {
  if constexpr (is_complex<T>) return {x.real(), x.imag()};
  else return x;
}

template <typename W>
auto magnitude(W x) {
  if constexpr (std::is_floating_point_v<W>) return std::abs(x);
  else return std::sqrt(x.real() * x.real() + x.imag() * x.imag());
}

/// x y, without the special treatment of infinities in std::complex.
template <typename W>
W multiply(W x, W y) {
  if constexpr (std::is_floating_point_v<W>) return x * y;
  else return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// A vector x, and a bound s of its absolute values: |x| ≤ s.
template <Scalar T>
struct BoundedVector {
  std::vector<Wide<T>> x;
  std::vector<WideReal<T>> s;
  explicit BoundedVector(Index size) : x(static_cast<std::size_t>(size)), s(static_cast<std::size_t>(size)) {}
};

/// M v for a matrix with `rows` rows and as many columns as v has entries: M x and |M| s.
template <Scalar T, typename Matrix>
BoundedVector<T> apply(const Matrix& M, Index rows, const BoundedVector<T>& v) {
  BoundedVector<T> result(rows);
  const Index columns = std::ssize(v.x);
  parallel_for(rows, 64, [&](Index begin, Index end) {
    const auto add = [&](Index i, Index j) {
      const auto element = M(i, j);
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      result.x[row] += multiply(element, v.x[column]);
      result.s[row] += magnitude(element) * v.s[column];
    };
    if (M.columns_are_contiguous()) {
      for (Index j = 0; j < columns; j++)
        for (Index i = begin; i < end; i++) add(i, j);
    } else {
      for (Index i = begin; i < end; i++)
        for (Index j = 0; j < columns; j++) add(i, j);
    }
  });
  return result;
}

/// A triangle of the product L R, times v, computed as cheaply as L (R v). Row i of L is multiplied by a sum of columns
/// of R, weighted by v, over the columns that the triangle includes in row i. From one row to the next, the sum gains
/// one column (Lower) or loses one (Upper).
template <Scalar T, typename Left, typename Right>
BoundedVector<T> apply_triangle(Uplo uplo, const Left& L, const Right& R, Index k, const BoundedVector<T>& v) {
  constexpr Index slice = 256;  // terms of a sum per slice; a thread's partial sums then stay in its cache
  const Index n = std::ssize(v.x);
  BoundedVector<T> result(n);
  std::mutex adding;
  parallel_for((k + slice - 1) / slice, 1, [&](Index begin, Index end) {
    BoundedVector<T> part(n);
    for (Index first = begin * slice; first < std::min(k, end * slice); first += slice) {
      const Index terms = std::min(slice, k - first);
      BoundedVector<T> columns(terms);
      for (Index step = 0; step < n; step++) {
        const Index i = uplo == Uplo::Lower ? step : n - 1 - step;
        const auto row = static_cast<std::size_t>(i);
        for (Index l = 0; l < terms; l++) {
          auto& x = columns.x[static_cast<std::size_t>(l)];
          auto& s = columns.s[static_cast<std::size_t>(l)];
          const auto right = R(first + l, i), left = L(i, first + l);
          x += multiply(right, v.x[row]), s += magnitude(right) * v.s[row];
          part.x[row] += multiply(left, x), part.s[row] += magnitude(left) * s;
        }
      }
    }
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < result.x.size(); i++) result.x[i] += part.x[i], result.s[i] += part.s[i];
  });
  return result;
}

}  // namespace tessera::bench
