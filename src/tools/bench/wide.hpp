// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include <tessera/types.hpp>

#include "bench/parallel.hpp"

/// Products in arithmetic that is wider than the type that is checked.
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

/// x y without the detour that std::complex makes for infinities.
template <typename W>
W multiply(W x, W y) {
  if constexpr (std::is_floating_point_v<W>) return x * y;
  else return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// op(A) of a stored matrix, element by element.
template <Scalar T>
struct Operand {
  Op op;
  const T* data;
  Index ld;

  bool columns_are_contiguous() const { return op == Op::NoTrans; }
  Wide<T> operator()(Index i, Index j) const {
    const auto x = widen(op == Op::NoTrans ? data[i + j * ld] : data[j + i * ld]);
    if constexpr (is_complex<T>) return op == Op::ConjTrans ? std::conj(x) : x;
    else return x;
  }
};

/// A vector x, and a bound s ≥ |x| for each entry that is carried along.
template <Scalar T>
struct BoundedVector {
  std::vector<Wide<T>> x;
  std::vector<WideReal<T>> s;
  explicit BoundedVector(Index size) : x(static_cast<std::size_t>(size)), s(static_cast<std::size_t>(size)) {}
};

/// M v of a matrix with `rows` rows and as many columns as v has entries: M x, and |M| s.
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

}  // namespace tessera::bench
