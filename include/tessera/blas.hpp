// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/types.hpp>

/// The routines on pointers: column-major, BLAS argument order, the result is there when they return.

namespace tessera {

/// C ← α op(A) op(B) + β C.
///
/// @param op_a  with op(A) m×k: A is m×k (NoTrans) or k×m (Trans, ConjTrans)
/// @param op_b  with op(B) k×n: B is k×n (NoTrans) or n×k (Trans, ConjTrans)
/// @param lda   at least max(1, rows of A as stored); ldb and ldc likewise [elements]
/// @param C     m×n; may not share memory with A or B. β = 0: only written
/// @throws      ArgumentError with the position of the first illegal argument, as `xerbla` counts them;
///              ShapeError if C overlaps A or B; RuntimeError if the runtime fails. C is then untouched,
///              except after a RuntimeError.
/// @note        flops: 2mnk (real), 8mnk (complex). Any thread may call it; calls on disjoint outputs may overlap.
template <Scalar T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);

}  // namespace tessera
