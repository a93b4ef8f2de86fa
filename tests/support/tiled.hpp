// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "support/oracle.hpp"

namespace tessera::test {

template <Scalar T>
Matrix<T> tiled(HostMatrix<T>& A, TileSize tile) {
  return {A.data(), A.m(), A.n(), A.ld(), tile};
}
/// A read-only matrix, for inputs.
template <Scalar T>
Matrix<T> tiled(const HostMatrix<T>& A, TileSize tile) {
  return {A.data(), A.m(), A.n(), A.ld(), tile};
}

/// A copy of op(X), where X is rows [i0, i0 + m) and columns [j0, j0 + n) of A.
template <Scalar T>
HostMatrix<T> part(const HostMatrix<T>& A, Index i0, Index j0, Index m, Index n, Op op = Op::NoTrans) {
  HostMatrix<T> P(op == Op::NoTrans ? m : n, op == Op::NoTrans ? n : m);
  for (Index j = 0; j < P.n(); j++)
    for (Index i = 0; i < P.m(); i++) {
      const T x = op == Op::NoTrans ? A(i0 + i, j0 + j) : A(i0 + j, j0 + i);
      if constexpr (is_complex<T>) P(i, j) = op == Op::ConjTrans ? std::conj(x) : x;
      else P(i, j) = x;
    }
  return P;
}
template <Scalar T>
HostMatrix<T> part(const HostMatrix<T>& A, Op op) {
  return part(A, 0, 0, A.m(), A.n(), op);
}

/// The reverse of `part`: writes P = op(X) back into A.
template <Scalar T>
void put(HostMatrix<T>& A, Index i0, Index j0, Op op, const HostMatrix<T>& P) {
  const auto stored = part(P, op);
  for (Index j = 0; j < stored.n(); j++)
    for (Index i = 0; i < stored.m(); i++) A(i0 + i, j0 + j) = stored(i, j);
}

template <Scalar T>
Matrix<T> view_of(Op op, const Matrix<T>& A) {
  return op == Op::NoTrans ? A : op == Op::Trans ? A.transposed() : A.conjugate_transposed();
}

}  // namespace tessera::test
