// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// @file
/// The synchronous routines on pointers, with the BLAS's argument order. <tessera/blas3.hpp> defines what each
/// computes, and when an operand is not read.
///
/// Each routine has two forms. Without a layout, all matrices are column-major. With a layout as the first argument,
/// all matrices have this layout. Row-major costs nothing extra: the routine swaps operands instead of transposing
/// memory.
///
/// Shapes are mathematical: if op(A) is m×k, the stored A is m×k (NoTrans) or k×m (Trans, ConjTrans). A leading
/// dimension counts elements; it is at least max(1, rows of the stored matrix) if the matrix is column-major, and at
/// least max(1, columns) if it is row-major.
///
/// All routines throw
/// - ArgumentError with the position of the first illegal argument. Positions are counted from 1, as `xerbla` does; a
///   layout is argument 1, as in CBLAS;
/// - ShapeError if an output overlaps an input;
/// - RuntimeError if the runtime fails, or if called within a StarPU task or its callback, which must not wait.
///
/// After an exception, the output is untouched, unless the runtime has failed. Any thread may call these routines, and
/// calls with disjoint outputs may run at the same time. During a call with an argument `uplo`, other threads may use
/// the triangle that `uplo` does not select.

namespace tessera {

/// @{
/// C ← α op(A) op(B) + β C, with op(A) m×k and op(B) k×n.
template <Scalar T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
template <Scalar T>
void gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::type_identity_t<T> alpha, const T* A,
          Index lda, const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
/// @}

/// @{
/// The triangle `uplo` of C ← α op(A) op(B) + β C, with C n×n, op(A) n×k and op(B) k×n.
template <Scalar T>
void gemmt(Uplo uplo, Op op_a, Op op_b, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
template <Scalar T>
void gemmt(Layout layout, Uplo uplo, Op op_a, Op op_b, Index n, Index k, std::type_identity_t<T> alpha, const T* A,
           Index lda, const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
/// @}

/// @{
/// C ← α A B + β C (Left) or α B A + β C (Right), with A symmetric, m×m or n×n, and B and C m×n.
template <Scalar T>
void symm(Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
template <Scalar T>
void symm(Layout layout, Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda,
          const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
/// @}

/// @{
/// C ← α A B + β C (Left) or α B A + β C (Right), with A Hermitian, m×m or n×n, and B and C m×n.
template <ComplexScalar T>
void hemm(Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
template <ComplexScalar T>
void hemm(Layout layout, Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda,
          const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
/// @}

/// @{
/// The triangle `uplo` of C ← α op(A) op(A)ᵀ + β C, with C n×n and op(A) n×k.
template <Scalar T>
void syrk(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
          std::type_identity_t<T> beta, T* C, Index ldc);
template <Scalar T>
void syrk(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
          std::type_identity_t<T> beta, T* C, Index ldc);
/// @}

/// @{
/// The triangle `uplo` of C ← α op(A) op(A)ᴴ + β C, with C n×n and op(A) n×k.
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc);
template <ComplexScalar T>
void herk(Layout layout, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
          Index ldc);
/// @}

/// @{
/// The triangle `uplo` of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, with C n×n, and op(A) and op(B) n×k.
template <Scalar T>
void syr2k(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
           Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
template <Scalar T>
void syr2k(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc);
/// @}

/// @{
/// The triangle `uplo` of C ← α op(A) op(B)ᴴ + ᾱ op(B) op(A)ᴴ + β C, with C n×n, and op(A) and op(B) n×k.
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
           Index ldb, Real<T> beta, T* C, Index ldc);
template <ComplexScalar T>
void her2k(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, Real<T> beta, T* C, Index ldc);
/// @}

/// @{
/// B ← α op(A) B (Left) or α B op(A) (Right), with A triangular, m×m or n×n, and B m×n.
template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha, const T* A,
          Index lda, T* B, Index ldb);
template <Scalar T>
void trmm(Layout layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha,
          const T* A, Index lda, T* B, Index ldb);
/// @}

/// @{
/// B ← α op(A)⁻¹ B (Left) or α B op(A)⁻¹ (Right), with A triangular, m×m or n×n, and B m×n.
template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha, const T* A,
          Index lda, T* B, Index ldb);
template <Scalar T>
void trsm(Layout layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha,
          const T* A, Index lda, T* B, Index ldb);
/// @}

}  // namespace tessera
