// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/tiling.hpp"

/// Determines which combinations of views and options a BLAS routine can compute.
namespace tessera::test {

/// The operation on a stored operand that a view and an option make together. Two transposes cancel, as do two
/// conjugates.
struct Turn {
  bool transposed = false, conjugated = false;
  friend Turn operator+(Turn a, Turn b) { return {a.transposed != b.transposed, a.conjugated != b.conjugated}; }
  friend bool operator==(const Turn&, const Turn&) = default;
  bool only_conjugated() const { return conjugated && !transposed; }
};

template <Scalar T>
Turn turn(Op op) {
  return {op != Op::NoTrans, is_complex<T> && op == Op::ConjTrans};
}

/// Whether a BLAS routine can compute the call. Transposing the equation so that the output is as stored transposes the
/// inputs as well. The resulting operations on the inputs must be BLAS operations.
template <Scalar T>
bool is_computable(const Routine<T>& routine, const Options& options, const Tiling& tiling) {
  const Turn a = turn<T>(tiling.view_a), b = turn<T>(tiling.view_b), c = turn<T>(tiling.view_c),
             op_a = turn<T>(options.op_a), op_b = turn<T>(options.op_b);
  const Turn conjugated{false, true};
  if (routine.has("side") && routine.has_b()) {  // symm and hemm: B has no op, A is its own (conjugate) transpose
    const Turn left = a + c;
    return b == c && (routine.hermitian ? left.transposed == left.conjugated : !left.conjugated);
  }
  if (routine.c == Structure::Symmetric) {  // C is its own transpose, so only a conjugation affects the inputs
    const Turn left = a + op_a + (c.conjugated ? conjugated : Turn()), right = b + a + left;
    return !left.conjugated && (!routine.has_b() || left == right);
  }
  if (routine.c == Structure::Hermitian) {  // C is its own conjugate transpose
    const Turn left = a + op_a + (c.transposed != c.conjugated ? conjugated : Turn()), right = b + a + left;
    return left.transposed == left.conjugated && (!routine.has_b() || left == right);
  }
  const Turn left = a + op_a + c, right = b + op_b + c;
  return !left.only_conjugated() && (!routine.has_b() || !right.only_conjugated());
}

}  // namespace tessera::test
