// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

/// @file
/// Factorizations, solves and inverses, with the names and argument orders of LAPACK. Routines on a `Matrix` (below,
/// "on matrices") submit tasks and return, like those of <tessera/blas3.hpp>. Routines on pointers wait, like those of
/// <tessera/blas.hpp>. The rules of these headers for errors, layouts, leading dimensions, triangles and threads also
/// hold here.
///
/// A matrix that cannot be factorized, or has no inverse, is not an error; `info` reports it. Routines on pointers
/// return `info`. Routines on matrices return an object whose value is known when the tasks have run.

namespace tessera {

namespace detail {
class Outcome;
class PivotTiles;
class ReflectorTiles;
struct InfoAccess;
struct PivotsAccess;
struct ReflectorsAccess;
}  // namespace detail

/// The `info` of a factorization or an inverse on `Matrix` objects. Copies share one value. An `Info` may be destroyed
/// before the tasks run.
class Info {
 public:
  /// Waits for the factorization, or until it is known whether there is an inverse. The result may still be in a GPU's
  /// memory: `Matrix<T>::wait` copies it back.
  /// @return  0, or the value that the routine documents
  /// @throws RuntimeError if a tile operation that decides the value has failed (`Matrix<T>::wait` reports other
  ///         failures); or within a StarPU task or its callback
  Index wait() const;
  /// The handle of a StarPU variable, an std::int64_t that the program's own tasks may read.
  starpu_data_handle_t handle() const noexcept;

 private:
  friend struct detail::InfoAccess;
  explicit Info(std::shared_ptr<detail::Outcome> outcome) : outcome_(std::move(outcome)) {}
  std::shared_ptr<detail::Outcome> outcome_;
};

/// @{
/// Replaces the triangle `uplo` of A by its Cholesky factor: L with A = L Lᴴ (Lower), U with A = Uᴴ U (Upper).
/// @param A  symmetric or Hermitian, positive definite, n×n; the imaginary part of the diagonal is not read. On
///           matrices, its tiles are square
/// @return   info: 0, or the order i of the first leading minor that is not positive. The first i − 1 rows and columns
///           of the triangle then hold the factor of the leading minor of order i − 1; the rest is undefined
/// @note     n³/3 flops. Left-looking on tiles, with a look-ahead of one panel. The updates of a tile form one chain of
///           products
template <Scalar T>
Info potrf(Uplo uplo, const Matrix<T>& A);
template <Scalar T>
Index potrf(Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
Index potrf(Layout layout, Uplo uplo, Index n, T* A, Index lda);
/// @}

/// @{
/// B ← A⁻¹ B, with the factor of A that `potrf` has computed.
/// @param A  n×n, with the factor in its triangle `uplo`. On matrices, its tiles are square, and cut like the rows of B
/// @param B  n×nrhs. If complex, neither A nor B may be a view that is transposed without being conjugated
/// @note     2n² nrhs flops
template <Scalar T>
void potrs(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
void potrs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T>
void potrs(Layout layout, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
/// @}

/// @{
/// Replaces the triangle `uplo` of A by its Cholesky factor, like `potrf`, and B by A⁻¹ B.
/// @return  the info of `potrf`. If it is not 0, B is unchanged (on pointers) or undefined (on matrices)
/// @note    n³/3 + 2n² nrhs flops
template <Scalar T>
Info posv(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
Index posv(Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
template <Scalar T>
Index posv(Layout layout, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
/// @}

/// The growth of the elements in a factorization of a `Matrix` without pivoting. Copies share one value. A `Growth` may
/// be destroyed before the factorization has run.
class Growth {
 public:
  Growth() = default;  ///< the growth 1, without a factorization
  /// Waits for the factorization.
  /// @return  max|U(i, j)| / max|A(i, j)|, where |x| is |Re x| + |Im x|; 1 if both are 0 or the matrix is empty, NaN if
  ///          an element of U is NaN
  /// @throws RuntimeError under the conditions of `Info::wait`
  double wait() const;

 private:
  friend struct detail::InfoAccess;
  explicit Growth(std::shared_ptr<detail::Outcome> outcome) : outcome_(std::move(outcome)) {}
  std::shared_ptr<detail::Outcome> outcome_;
};

/// @{
/// Replaces A by L and U with A = L U, without pivoting: L unit lower trapezoidal, U upper trapezoidal.
///
/// Use this only for matrices that need no pivots: matrices that are diagonally dominant by rows or by columns, and
/// matrices whose Hermitian part is positive definite and not much smaller than the rest. Other matrices are unsafe:
/// a nonsingular matrix may have no factors, and after a small pivot the factors may have no correct digit although
/// `info` is 0. The backward error is about growth · n · u, where u is the unit roundoff. A growth above 10³ in single,
/// or 10¹⁰ in double precision, leaves few correct digits: such a matrix needs `getrf`.
/// @param A       m×n. On matrices, its tiles are square, and it may be a view of any kind. On pointers, a row-major
///                matrix is not copied
/// @param growth  if not null, set to the `Growth`; this costs one more pass over A and one over U
/// @return        info: 0, or the first i, counted from 1, for which U(i, i) is exactly zero. If i < m, the elements
///                below U(i, i) are divided by zero, and the factors contain infinities and NaN
/// @note          2/3 n³ flops if m = n. Left-looking on tiles, with a look-ahead of one step
template <Scalar T>
Info getrf_nopiv(const Matrix<T>& A, Growth* growth = nullptr);
template <Scalar T>
Index getrf_nopiv(Index m, Index n, T* A, Index lda, double* growth = nullptr);
template <Scalar T>
Index getrf_nopiv(Layout layout, Index m, Index n, T* A, Index lda, double* growth = nullptr);
/// @}

/// @{
/// B ← op(A)⁻¹ B, with the factors of A that `getrf_nopiv` has computed.
/// @param A  the factors, n×n. On matrices, its tiles are square, and cut like the rows of B
/// @param B  n×nrhs. If A or B is a view of a complex `Matrix`, op(A)⁻¹ B must not need a matrix that is conjugated
///           without being transposed
/// @note     2n² nrhs flops
template <Scalar T>
void getrs_nopiv(Op op, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
void getrs_nopiv(Op op, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T>
void getrs_nopiv(Layout layout, Op op, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
/// @}

/// @{
/// Replaces A by its factors, like `getrf_nopiv`, and B by A⁻¹ B.
/// @return  the info of `getrf_nopiv`. If it is not 0, B is unchanged (on pointers) or undefined (on matrices)
/// @note    2/3 n³ + 2n² nrhs flops
template <Scalar T>
Info gesv_nopiv(const Matrix<T>& A, const Matrix<T>& B, Growth* growth = nullptr);
template <Scalar T>
Index gesv_nopiv(Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, double* growth = nullptr);
template <Scalar T>
Index gesv_nopiv(Layout layout, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, double* growth = nullptr);
/// @}

/// @{
/// Replaces the triangle `uplo` of A by its inverse.
/// @param diag  Unit: the elements of the diagonal are taken as 1, and are neither read nor written
/// @param A     triangular, n×n. The other triangle is neither read nor written. On matrices, the tiles are square
/// @return   info: 0, or the first i, counted from 1, for which A(i, i) is exactly zero (NonUnit), so that A has no
///           inverse. A is then unchanged (on pointers) or undefined (on matrices)
/// @note     n³/3 flops. Left-looking on tiles; on GPUs with a temporary tile for each tile on the diagonal
template <Scalar T>
Info trtri(Uplo uplo, Diag diag, const Matrix<T>& A);
template <Scalar T>
Index trtri(Uplo uplo, Diag diag, Index n, T* A, Index lda);
template <Scalar T>
Index trtri(Layout layout, Uplo uplo, Diag diag, Index n, T* A, Index lda);
/// @}

/// @{
/// B ← op(A)⁻¹ B, with the triangle `uplo` of A, if it has an inverse. Only on pointers; `trsm`, which does not check
/// for zeros, also works on matrices.
/// @param diag  Unit: the elements of the diagonal are taken as 1, and are not read
/// @param A     n×n. The other triangle is not read
/// @param B     n×nrhs
/// @return   info: 0, or the first i, counted from 1, for which A(i, i) is exactly zero (NonUnit); B is then unchanged
/// @note     n² nrhs flops
template <Scalar T>
Index trtrs(Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T>
Index trtrs(Layout layout, Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
/// @}

/// @{
/// Replaces the lower triangle L of A by the lower triangle of Lᴴ L (Lower), or the upper triangle U by that of U Uᴴ
/// (Upper).
/// @param A  n×n. The diagonal of a complex L or U must be real, as in a Cholesky factor. The other triangle is neither
///           read nor written. On matrices, its tiles are square
/// @note     n³/3 flops. Left-looking on tiles; on GPUs with a temporary tile for each tile on the diagonal
template <Scalar T>
void lauum(Uplo uplo, const Matrix<T>& A);
template <Scalar T>
void lauum(Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
void lauum(Layout layout, Uplo uplo, Index n, T* A, Index lda);
/// @}

/// @{
/// Replaces the Cholesky factor in the triangle `uplo` of A by the same triangle of the inverse of the factorized
/// matrix: `trtri`, then `lauum`, without a wait between them.
/// @param A  the factor that `potrf` has computed, n×n. On matrices, its tiles are square
/// @return   the info of `trtri`
/// @note     2/3 n³ flops
template <Scalar T>
Info potri(Uplo uplo, const Matrix<T>& A);
template <Scalar T>
Index potri(Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
Index potri(Layout layout, Uplo uplo, Index n, T* A, Index lda);
/// @}

/// The pivots of the factorization of a `Matrix`. Copies share them. `Pivots` may be destroyed before the tasks run.
class Pivots {
 public:
  /// Waits for the factorization.
  /// @return  min(m, n) pivots: row i, counted from 1, was exchanged with row pivots[i - 1], in this order
  /// @throws RuntimeError under the conditions of `Info::wait`
  std::vector<Index> wait() const;

  /// The number of panels that have pivots: columns of tiles whose part of the diagonal begins within the matrix.
  Index panels() const noexcept;
  /// The handle of the pivots of panel k, counted from 0: a StarPU matrix of one column of `int`, which the program's
  /// own tasks may read. If A is m×n in panels of nb columns, the first min(nb, min(m, n) - k nb) elements are the
  /// pivots, counted from 1 at row k nb of A. The remaining elements are for GPUs.
  /// @throws ArgumentError if there is no such panel
  starpu_data_handle_t handle(Index k) const;

 private:
  friend struct detail::PivotsAccess;
  explicit Pivots(std::shared_ptr<detail::PivotTiles> tiles) : tiles_(std::move(tiles)) {}
  std::shared_ptr<detail::PivotTiles> tiles_;
};

/// The results of a factorization with pivoting on matrices, in addition to the factors.
struct Pivoted {
  Pivots pivots;  ///< the exchanges of rows
  Info info;      ///< the routine's `info`
};

// LU factorization with pivoting works on panels: columns of tiles. On matrices, a tile of A has all rows, or its rows
// are a multiple of its columns, with at most 128 rows of tiles. Tiles of B have as many rows as tiles of A. Good tiles
// have 4096 rows and 2048 columns on GPUs, and all rows and 128 columns on CPUs. Matrices may not be transposed. On
// pointers, row-major matrices are copied to column-major ones, and back.

/// @{
/// Replaces A by L and U with P A = L U, by partial pivoting: L unit lower trapezoidal, U upper trapezoidal. On
/// pointers, `ipiv` gets the min(m, n) pivots of `Pivots::wait`, as std::int32_t or std::int64_t.
/// @param A  m×n
/// @return   info: 0, or the first i, counted from 1, for which U(i, i) is exactly zero. The factors are complete
/// @note     2/3 n³ flops if m = n. One task exchanges the rows of a panel, solves, and multiplies. Tiles with all rows
///           are written back at the end, shorter tiles as soon as their last row is final
template <Scalar T>
Pivoted getrf(const Matrix<T>& A);
template <Scalar T, typename Int>
Index getrf(Index m, Index n, T* A, Index lda, Int* ipiv);
template <Scalar T, typename Int>
Index getrf(Layout layout, Index m, Index n, T* A, Index lda, Int* ipiv);
/// @}

/// @{
/// B ← op(A)⁻¹ B, with the factors of A and the pivots that `getrf` has computed.
/// @param A  the factors, n×n
/// @param B  n×nrhs
/// @note     2n² nrhs flops
template <Scalar T>
void getrs(Op op, const Matrix<T>& A, const Pivots& pivots, const Matrix<T>& B);
template <Scalar T, typename Int>
void getrs(Op op, Index n, Index nrhs, const T* A, Index lda, const Int* ipiv, T* B, Index ldb);
template <Scalar T, typename Int>
void getrs(Layout layout, Op op, Index n, Index nrhs, const T* A, Index lda, const Int* ipiv, T* B, Index ldb);
/// @}

/// @{
/// Replaces A by its factors, like `getrf`, and B by A⁻¹ B.
/// @return  the info of `getrf`. If it is not 0, B is unchanged (on pointers) or undefined (on matrices)
template <Scalar T>
Pivoted gesv(const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T, typename Int>
Index gesv(Index n, Index nrhs, T* A, Index lda, Int* ipiv, T* B, Index ldb);
template <Scalar T, typename Int>
Index gesv(Layout layout, Index n, Index nrhs, T* A, Index lda, Int* ipiv, T* B, Index ldb);
/// @}

/// @{
/// Replaces the factors that `getrf` has computed by the inverse of the matrix: X P, where X L = U⁻¹. On pointers, the
/// values of `ipiv` are checked.
/// @param A  the factors, n×n. On matrices, its tiles have all rows, and its panels are those of the pivots
/// @return   info: 0, or the first i, counted from 1, for which U(i, i) is exactly zero, so that there is no inverse. A
///           is then unchanged (on pointers) or undefined (on matrices)
/// @note     4/3 n³ flops. Temporary panels hold L, n²/2 elements
template <Scalar T>
Info getri(const Matrix<T>& A, const Pivots& pivots);
template <Scalar T, typename Int>
Index getri(Index n, T* A, Index lda, const Int* ipiv);
template <Scalar T, typename Int>
Index getri(Layout layout, Index n, T* A, Index lda, const Int* ipiv);
/// @}

/// @{
/// Exchanges rows of A, one pair after another. On matrices, the pairs are given by the pivots of a factorization,
/// which need not have run. On pointers, row i (k1 ≤ i ≤ k2) is exchanged with row ipiv(k1 + (i - k1) |incx|), all
/// counted from 1, as in LAPACK's laswp.
/// @param A     on matrices, it has as many rows as the factorized matrix, in at most 128 rows of tiles. On pointers,
///              it has n columns, and all rows that are exchanged
/// @param incx  if negative, the last pair comes first, which undoes the exchanges. On matrices, 1 or -1. On pointers,
///              0 is also allowed, and nothing is exchanged
/// @note        On matrices, there is one task for each column of tiles. On pointers, the calling thread exchanges the
///              rows, because copying them to a GPU and back would take longer
template <Scalar T>
void laswp(const Matrix<T>& A, const Pivots& pivots, Index incx = 1);
template <Scalar T, typename Int>
void laswp(Index n, T* A, Index lda, Index k1, Index k2, const Int* ipiv, Index incx);
template <Scalar T, typename Int>
void laswp(Layout layout, Index n, T* A, Index lda, Index k1, Index k2, const Int* ipiv, Index incx);
/// @}

/// The scalar factors of the reflectors of a QR factorization of a `Matrix`, and data for applying them fast. Copies
/// share them. `Reflectors` may be destroyed before the factorization has run.
class Reflectors {
 public:
  /// Waits for the factorization.
  /// @param tau  gets min(m, n) elements
  /// @throws ArgumentError if the matrix has elements of another type; RuntimeError under the conditions of
  ///                       `Info::wait`
  template <Scalar T>
  void wait(T* tau) const;

 private:
  friend struct detail::ReflectorsAccess;
  explicit Reflectors(std::shared_ptr<detail::ReflectorTiles> tiles) : tiles_(std::move(tiles)) {}
  std::shared_ptr<detail::ReflectorTiles> tiles_;
};

// QR factorization works on panels: columns of tiles with all rows. Good panels have 1024 columns on GPUs, and 128 on
// CPUs. Matrices may not be transposed. On pointers, row-major matrices are copied to column-major ones, and back.

/// @{
/// Replaces A by its factors Q and R with A = Q R, as LAPACK stores them: the upper trapezoidal R on and above the
/// diagonal, and the min(m, n) Householder vectors of Q below it. `tau` gets their scalar factors.
/// @param A  m×n, of any rank
/// @note     2n² (m − n/3) flops if m ≥ n. Right-looking on panels, with a look-ahead of one panel. The reflections of
///           a panel are applied together, as I − V T Vᴴ
template <Scalar T>
Reflectors geqrf(const Matrix<T>& A);
template <Scalar T>
void geqrf(Index m, Index n, T* A, Index lda, T* tau);
template <Scalar T>
void geqrf(Layout layout, Index m, Index n, T* A, Index lda, T* tau);
/// @}

/// @{
/// C ← op(Q) C (Left) or C op(Q) (Right), with the first k Householder vectors that `geqrf` has left in A. LAPACK's
/// name for real types is ormqr.
/// @param op   NoTrans or ConjTrans; for real types, Trans means ConjTrans
/// @param A    has k columns, and m rows (Left) or n rows (Right). On matrices, it is the whole factorized matrix,
///             which has at least as many rows as columns
/// @param C    m×n. On matrices, its tiles have all rows (Left) or all columns (Right)
/// @note       2 m n k (2 − k/m) flops from the left
template <Scalar T>
void unmqr(Side side, Op op, const Matrix<T>& A, const Reflectors& reflectors, const Matrix<T>& C);
template <Scalar T>
void unmqr(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc);
template <Scalar T>
void unmqr(Layout layout, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C,
           Index ldc);
/// @}

/// @{
/// Replaces A by the first n columns of Q, whose Householder vectors `geqrf` has left in the first k columns of A.
/// LAPACK's name for real types is orgqr.
/// @param A  m×n, m ≥ n ≥ k. On matrices, it is the whole factorized matrix, and k = n
/// @note     4 m n k − 2 (m + n) k² + 4/3 k³ flops
template <Scalar T>
void ungqr(const Matrix<T>& A, const Reflectors& reflectors);
template <Scalar T>
void ungqr(Index m, Index n, Index k, T* A, Index lda, const T* tau);
template <Scalar T>
void ungqr(Layout layout, Index m, Index n, Index k, T* A, Index lda, const T* tau);
/// @}

/// @{
/// Solves least squares problems, like LAPACK's gels, where op(A) has full rank. If op(A) has more rows than columns, X
/// minimizes the norm of each column of op(A) X − B; otherwise, X is the solution with the smallest norm. Replaces B by
/// X, and A by its QR factors, or if m < n by its LQ factors.
/// @param op   NoTrans or ConjTrans; for real types, Trans means ConjTrans
/// @param A    m×n. On matrices, m ≥ n. On pointers, if m < n, its adjoint is factorized in a copy
/// @param B    max(m, n)×nrhs. On entry, its first rows (as many as op(A) has) are the right-hand sides. On return, its
///             first rows (as many as op(A) has columns) are X, and the norm of each column below X is that of the
///             column of op(A) X − B. On matrices, its tiles have all rows
/// @return     info: 0, or the first i, counted from 1, for which the i-th diagonal element of R or L is zero; op(A)
///             then does not have full rank, and B is undefined. If A is zero, info is 0 and X is zero
/// @note       On pointers, if elements are near overflow or underflow, A becomes the factors of a scaled matrix, as in
///             LAPACK. A Matrix<T> is not scaled: its norm must be far from overflow and underflow
template <Scalar T>
Info gels(Op op, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
Index gels(Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
template <Scalar T>
Index gels(Layout layout, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
/// @}

}  // namespace tessera
