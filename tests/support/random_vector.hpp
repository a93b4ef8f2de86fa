// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/oracle.hpp"

/// An oracle for products too large for a triple loop: C t for random t, in time proportional to the matrices.
namespace tessera::test {

template <Scalar T>
using Vector = std::vector<Wide<T>>;

/// op(A) x
template <Scalar T>
Vector<T> times(Op op, const HostMatrix<T>& A, const Vector<T>& x) {
  Vector<T> y(static_cast<std::size_t>(op == Op::NoTrans ? A.m() : A.n()));
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) {
      const Index row = op == Op::NoTrans ? i : j, column = op == Op::NoTrans ? j : i;
      y[static_cast<std::size_t>(row)] += element(op, A, row, column) * x[static_cast<std::size_t>(column)];
    }
  return y;
}

/// Exact for integers: an element that is wrong stays hidden with probability 1/2 for each of the vectors.
template <Scalar T>
void expect_exact(const Product<T>& p, const HostMatrix<T>& before, const HostMatrix<T>& after) {
  ASSERT_TRUE(after.sentinels_intact());
  Random random(99);
  for (int vectors = 0; vectors < 4; vectors++) {
    Vector<T> t(static_cast<std::size_t>(after.n()));
    for (auto& x : t) x = random.coin() ? 1 : -1;
    const auto product = times(p.op_a, p.A, times(p.op_b, p.B, t)), old = times(Op::NoTrans, before, t),
               result = times(Op::NoTrans, after, t);
    for (std::size_t i = 0; i < result.size(); i++)
      ASSERT_EQ(result[i], widen(p.alpha) * product[i] + widen(p.beta) * old[i]) << p << ", row " << i;
  }
}

}  // namespace tessera::test
