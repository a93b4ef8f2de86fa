// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "conformable.hpp"
#include "operands.hpp"

namespace tessera::routines {

/// Checks a solve with both factors of A, on square tiles.
/// @throws ShapeError, ArgumentError if A or B does not suit
template <Scalar T>
void require_solvable(const char* routine, int at_a, Op op, const Matrix<T>& A, int at_b, const Matrix<T>& B) {
  const MatrixArgument a{routine, at_a, "A"}, b{routine, at_b, "B"};
  require_square(a, A);
  require_same_tiles(a, "rows", row_cut(A), "its columns", column_cut(A));
  require_equal(b, "rows", B.m(), "A", A.m());
  require_in_place(b, B);
  if (B.m() == 0 || B.n() == 0) return;
  require_values(a, A);
  require_same_tiles(b, "rows", row_cut(B), "A", row_cut(A));
  require_disjoint(b, B, "A", A);
  const Factor<T> given(A, op);
  require_operation(a, is_transposed(B) ? given.transposed(is_conjugated(B)) : given);
}

}  // namespace tessera::routines
