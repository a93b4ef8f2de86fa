// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/matrix.hpp>

/// @file
/// The asynchronous routines, which submit tasks and return. Calls take effect on each tile in the order in which they
/// were made; calls from several threads take effect one after another. `Matrix<T>::wait` copies a result to host
/// memory, `tessera::wait` waits for everything.
///
/// These rules hold for all routines:
/// - If β = 0, C is only written. Its old values, including NaN, do not matter.
/// - If α = 0 or k = 0, A and B are not read.
/// - The triangle that `uplo` does not select is neither read nor written. However, a GPU copies whole tiles on the
///   diagonal of an output to its memory and back. Meanwhile, nothing else may change the other triangle of such a
///   tile.
/// - Outputs may be transposed views. They may not share memory with inputs.
///
/// All routines throw
/// - ShapeError if the matrices are not conformable, their tiles do not agree, or an output overlaps an input;
/// - ArgumentError if an output is read-only, if an option has an illegal value, or if views and options together ask
///   for an operation that the BLAS does not have: to conjugate an operand without transposing it, or to combine views
///   that are transposed differently (B and C in symm and hemm, A and B in syr2k and her2k).
///
/// Each matrix may be in host memory (pinned or not), in CUDA's managed memory, or in the memory of any GPU that
/// Tessera uses. When a routine on pointers returns, its result is in the memory of the output. A call on memory of a
/// GPU first waits for all work queued on the legacy default stream of that GPU. All routines, and `Matrix`, throw
/// ArgumentError for a pointer to memory of a GPU that Tessera does not use, or to less memory than the matrix takes.
/// Vectors and scalars (pivots, tau, alpha) are in host memory.
///
/// Flops are given for real types; complex types take four times as many real operations. All routines except gemmt are
/// defined in Dongarra, Du Croz, Hammarling, Duff, TOMS 16 (1990).

namespace tessera {

/// C ← α op(A) op(B) + β C, with op(A) m×k, op(B) k×n and C m×n.
/// @pre   op(A) and C have the same mb, op(B) and C the same nb, and nb of op(A) is mb of op(B)
/// @note  2mnk flops
template <Scalar T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C);

/// The triangle `uplo` of C ← α op(A) op(B) + β C, with op(A) n×k, op(B) k×n and C n×n.
/// @pre   as for gemm. The tiles of C are square, or the number of rows of a tile (as stored, not transposed) is a
///        multiple of its number of columns, or one tile has all rows of C
/// @note  n²k flops. LAPACK 3.12 calls it gemmtr
template <Scalar T>
void gemmt(Uplo uplo, Op op_a, Op op_b, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
           std::type_identity_t<T> beta, const Matrix<T>& C);

/// C ← α A B + β C  (Left)  or  α B A + β C  (Right), with B and C m×n.
/// @param A  symmetric, m×m (Left) or n×n (Right); only its triangle `uplo` is read
/// @pre      the tiles of A are square; B and C are cut into the same tiles, and on A's side like A
/// @note     2m²n (Left) or 2mn² (Right) flops
template <Scalar T>
void symm(Side side, Uplo uplo, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C);

/// C ← α A B + β C  (Left)  or  α B A + β C  (Right), with A Hermitian. The rules of symm hold; the imaginary part of
/// A's diagonal is not read.
template <ComplexScalar T>
void hemm(Side side, Uplo uplo, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C);

/// The triangle `uplo` of the symmetric C ← α A Aᵀ + β C  (NoTrans)  or  α Aᵀ A + β C  (Trans), n×n.
/// @param op  ConjTrans means Trans for real types, and is refused for complex types
/// @param A   n×k (NoTrans) or k×n (Trans)
/// @pre       the tiles of C are square, or the number of rows of a tile (as stored, not transposed) is a multiple of
///            its number of columns, or one tile has all rows of C. The rows of C and op(A) are cut alike
/// @note      n²k flops
template <Scalar T>
void syrk(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, std::type_identity_t<T> beta,
          const Matrix<T>& C);

/// The triangle `uplo` of the Hermitian C ← α A Aᴴ + β C  (NoTrans)  or  α Aᴴ A + β C  (ConjTrans), n×n.
/// The imaginary part of C's diagonal is not read, and becomes exactly zero. As in the BLAS, C is not touched if β = 1
/// and there is nothing to add.
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Real<T> alpha, const Matrix<T>& A, Real<T> beta, const Matrix<T>& C);

/// The triangle `uplo` of the symmetric C ← α A Bᵀ + α B Aᵀ + β C  (NoTrans)  or  α Aᵀ B + α Bᵀ A + β C  (Trans), n×n.
/// @pre   as for syrk; A and B are cut into the same tiles
/// @note  2n²k flops
template <Scalar T>
void syr2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
           std::type_identity_t<T> beta, const Matrix<T>& C);

/// The triangle `uplo` of the Hermitian C ← α A Bᴴ + ᾱ B Aᴴ + β C  (NoTrans)  or  α Aᴴ B + ᾱ Bᴴ A + β C  (ConjTrans).
/// The imaginary part of C's diagonal is treated as in herk.
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B, Real<T> beta,
           const Matrix<T>& C);

/// B ← α op(A) B  (Left)  or  α B op(A)  (Right), in place; B is m×n.
/// @param A  triangular, m×m (Left) or n×n (Right)
/// @pre      the tiles of A are square, and B is cut like A on A's side
/// @note     m²n (Left) or mn² (Right) flops. Infinities and NaN in B spread as in the BLAS
template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, std::type_identity_t<T> alpha, const Matrix<T>& A,
          const Matrix<T>& B);

/// B ← α op(A)⁻¹ B  (Left)  or  α B op(A)⁻¹  (Right): the m×n B is overwritten by the solution X of op(A) X = α B or X
/// op(A) = α B. A singular A is not detected: zeros on its diagonal make infinities, as in the BLAS.
/// @param A  triangular, m×m (Left) or n×n (Right)
/// @pre      the tiles of A are square, and B is cut like A on A's side
/// @note     m²n (Left) or mn² (Right) flops. For tiles of more than 256 rows, CUDA GPUs use the inverses of the
///           256×256 blocks on the diagonal if their growth max|A| max|A⁻¹| permits. Up to a growth of 4, the residual
///           is bounded by c u |A||A⁻¹||α B| instead of c u |A||X|, where u is the unit roundoff of T, and c depends
///           on the order of A. Up to a growth of 1/√u, one step of refinement follows. With a larger growth, the
///           tile is solved by substitution. Infinities and NaN in B spread as in the BLAS
template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, std::type_identity_t<T> alpha, const Matrix<T>& A,
          const Matrix<T>& B);

}  // namespace tessera
