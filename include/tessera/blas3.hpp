// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/matrix.hpp>

/// The asynchronous routines: they submit tasks and return. What they do to a tile takes effect in the order in which
/// the routines were called. `Matrix<T>::wait` brings a result home, `tessera::wait` waits for everything.

namespace tessera {

/// C ← α op(A) op(B) + β C, with op(A) m×k, op(B) k×n and C m×n.
///
/// β = 0: C is only written (what was there, NaN included, does not matter). α = 0 or k = 0: A and B are not read.
/// @param C  may be a transposed view; may not share memory with A or B
/// @pre      the tile sizes of op(A), op(B) and C agree: mb of A and C, nb of B and C, nb of A and mb of B
/// @throws   ShapeError if the matrices are not conformable, their tiles do not agree, or C overlaps A or B;
///           ArgumentError if C is read-only, or if an operand would have to be conjugated without being transposed
/// @note     flops: 2mnk (real), 8mnk (complex). Source: Dongarra, Du Croz, Hammarling, Duff, TOMS 16 (1990)
template <Scalar T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C);

}  // namespace tessera
