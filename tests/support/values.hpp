// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/matrices.hpp"
#include "support/options.hpp"

/// The mathematical values of operands, in long double.
namespace tessera::test {

template <Scalar T>
using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

template <Scalar T>
Wide<T> widen(T x) {
  if constexpr (is_complex<T>) return {x.real(), x.imag()};
  else return x;
}

template <typename W>
W conjugate(W x) {
  if constexpr (std::is_floating_point_v<W>) return x;
  else return std::conj(x);
}

/// op(A) of a stored matrix A. The structure determines which elements are read and which values the others have.
template <Scalar T>
struct Values {
  const HostMatrix<T>& stored;
  Op op = Op::NoTrans;
  Structure structure = Structure::General;
  Options options = {};

  Index m() const { return op == Op::NoTrans ? stored.m() : stored.n(); }
  Index n() const { return op == Op::NoTrans ? stored.n() : stored.m(); }

  Wide<T> operator()(Index i, Index j) const {
    if (op == Op::NoTrans) return element(i, j);
    return op == Op::Trans ? element(j, i) : conjugate(element(j, i));
  }

 private:
  Wide<T> element(Index i, Index j) const {
    if (is_meant(structure, options, i, j)) {
      const bool real = structure == Structure::Hermitian && i == j;
      return real ? Wide<T>(std::real(widen(stored(i, j)))) : widen(stored(i, j));
    }
    if (structure == Structure::Triangular) return i == j ? 1 : 0;
    return structure == Structure::Symmetric ? widen(stored(j, i)) : conjugate(widen(stored(j, i)));
  }
};

/// factor · left · right
template <Scalar T>
struct Term {
  Wide<T> factor;
  Values<T> left, right;
};

}  // namespace tessera::test
