// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

/// @file
/// Factorizations, solves and inverses, with the names and argument orders of LAPACK. On matrices of tiles they submit
/// tasks and return, as the routines of <tessera/blas3.hpp>. On pointers they wait, as those of <tessera/blas.hpp>. The
/// rules of these headers for errors, layouts, leading dimensions, triangles and threads also hold here.
///
/// A matrix that cannot be factorized, or has no inverse, is not an error; `info` reports it. Routines on pointers
/// return `info`. On matrices it is a value that exists when the factorization or inversion has run.

namespace tessera {

namespace detail {
class Outcome;
class PivotTiles;
class ReflectorTiles;
struct InfoAccess;
struct PivotsAccess;
struct ReflectorsAccess;
}  // namespace detail

/// The `info` of a factorization or an inverse on matrices. Copies share it. It may be destroyed before the tasks run.
class Info {
 public:
  /// Waits for the factorization, or until it is known whether there is an inverse. The result may still be in a GPU's
  /// memory: `Matrix<T>::wait` copies it back.
  /// @return  0, or the value that the routine documents
  /// @throws RuntimeError if a tile operation that decides the value has failed (`Matrix<T>::wait` reports the others);
  ///         or within a StarPU task or its callback
  Index wait() const;
  /// The handle of a StarPU variable, an std::int64_t that the program's own tasks may read.
  starpu_data_handle_t handle() const noexcept;

 private:
  friend struct detail::InfoAccess;
  explicit Info(std::shared_ptr<detail::Outcome> outcome) : outcome_(std::move(outcome)) {}
  std::shared_ptr<detail::Outcome> outcome_;
};

/// @{
/// The triangle `uplo` of A ← its Cholesky factor: L with A = L Lᴴ (Lower), U with A = Uᴴ U (Upper).
/// @param A  symmetric or Hermitian, positive definite, n×n; the imaginary part of the diagonal is not read. On
///           matrices its tiles are square
/// @return   info: 0, or the order of the first leading minor that is not positive. The triangle then holds a factor of
///           the matrix before that minor in its first rows and columns, and is not defined elsewhere
/// @note     n³/3 flops. Left-looking on tiles, with a look-ahead of one panel. The updates of a tile are one chain
///           of products
template <Scalar T>
Info potrf(Uplo uplo, const Matrix<T>& A);
template <Scalar T>
Index potrf(Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
Index potrf(Layout layout, Uplo uplo, Index n, T* A, Index lda);
/// @}

/// @{
/// B ← A⁻¹ B, with the factor of A that `potrf` has computed.
/// @param A  the factor, in its triangle `uplo`, n×n. On matrices its tiles are square, and cut like the rows of B
/// @param B  n×nrhs. Of complex matrices, neither A nor B may be a view that is transposed without being conjugated
/// @note     2n² nrhs flops
template <Scalar T>
void potrs(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
void potrs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T>
void potrs(Layout layout, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
/// @}

/// @{
/// The triangle `uplo` of A ← its Cholesky factor, as `potrf`, and B ← A⁻¹ B.
/// @return  info, as of `potrf`. If it is not 0, B is not changed on pointers, and not defined on matrices
/// @note    n³/3 + 2n² nrhs flops
template <Scalar T>
Info posv(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
Index posv(Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
template <Scalar T>
Index posv(Layout layout, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
/// @}

/// The growth of the elements in a factorization without pivoting, on matrices. Copies share it. It may be destroyed
/// before the factorization has run.
class Growth {
 public:
  Growth() = default;  ///< of no factorization: 1
  /// Waits for the factorization.
  /// @return  max|U(i, j)| / max|A(i, j)|, where |x| is |Re x| + |Im x|; 1 if both are 0 or the matrix is empty, NaN
  ///          if an element of U is
  /// @throws RuntimeError as `Info::wait`
  double wait() const;

 private:
  friend struct detail::InfoAccess;
  explicit Growth(std::shared_ptr<detail::Outcome> outcome) : outcome_(std::move(outcome)) {}
  std::shared_ptr<detail::Outcome> outcome_;
};

/// @{
/// A ← L U without pivoting: L unit lower trapezoidal, U upper trapezoidal.
///
/// Use this only for matrices that need no pivots: matrices that are diagonally dominant by rows or by columns, and
/// matrices whose Hermitian part is positive definite and not much smaller than the rest. It is unsafe for all others:
/// a nonsingular matrix may have no factors, and after a small pivot the factors may have no correct digit although
/// `info` is 0. The backward error is about growth · n · u, where u is the unit roundoff. A growth above 10³ in single,
/// or 10¹⁰ in double precision, leaves few digits: such a matrix needs `getrf`.
/// @param A       m×n. On matrices its tiles are square, and it may be a view of any kind. A row-major matrix on
///                pointers is not copied
/// @param growth  if not null, set to the `Growth`, which takes another pass over A and over U
/// @return        info: 0, or the first i, counted from 1, for which U(i, i) is exactly zero. If i < m, the column
///                below it is divided by it, and the factors contain infinities and NaN
/// @note          2/3 n³ flops if m = n. Left-looking on tiles, with a look-ahead of one step, as `potrf`
template <Scalar T>
Info getrf_nopiv(const Matrix<T>& A, Growth* growth = nullptr);
template <Scalar T>
Index getrf_nopiv(Index m, Index n, T* A, Index lda, double* growth = nullptr);
template <Scalar T>
Index getrf_nopiv(Layout layout, Index m, Index n, T* A, Index lda, double* growth = nullptr);
/// @}

/// @{
/// B ← op(A)⁻¹ B, with the factors of A that `getrf_nopiv` has computed.
/// @param A  the factors, n×n. A `Matrix` A must have square tiles, cut like the rows of B
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
/// A ← its factors, as `getrf_nopiv`, and B ← A⁻¹ B.
/// @return  info, as of `getrf_nopiv`. If it is not 0, B is not changed on pointers, and not defined on matrices
/// @note    2/3 n³ + 2n² nrhs flops
template <Scalar T>
Info gesv_nopiv(const Matrix<T>& A, const Matrix<T>& B, Growth* growth = nullptr);
template <Scalar T>
Index gesv_nopiv(Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, double* growth = nullptr);
template <Scalar T>
Index gesv_nopiv(Layout layout, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, double* growth = nullptr);
/// @}

/// @{
/// The triangle `uplo` of A ← its inverse.
/// @param diag  Unit: the diagonal is ones, and neither read nor written
/// @param A     triangular, n×n. The other triangle is neither read nor written. The tiles of a matrix must be square
/// @return   info: 0, or the first i, counted from 1, for which A(i, i) is exactly zero (NonUnit): A has no inverse. It
///           is then not changed on pointers, and not defined on matrices
/// @note     n³/3 flops. Left-looking on tiles; on GPUs with a temporary tile for each tile on the diagonal
template <Scalar T>
Info trtri(Uplo uplo, Diag diag, const Matrix<T>& A);
template <Scalar T>
Index trtri(Uplo uplo, Diag diag, Index n, T* A, Index lda);
template <Scalar T>
Index trtri(Layout layout, Uplo uplo, Diag diag, Index n, T* A, Index lda);
/// @}

/// @{
/// B ← op(A)⁻¹ B, with the triangle `uplo` of A, if A has an inverse. `trsm` does not check that, and also works on
/// matrices.
/// @param diag  Unit: the diagonal is ones, and not read
/// @param A     n×n. The other triangle is not read
/// @param B     n×nrhs
/// @return   info: 0, or the first i, counted from 1, for which A(i, i) is exactly zero (NonUnit): B is not changed
/// @note     n² nrhs flops
template <Scalar T>
Index trtrs(Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T>
Index trtrs(Layout layout, Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
/// @}

/// @{
/// Lower: the lower triangle L of A ← that of Lᴴ L. Upper: the upper triangle U of A ← that of U Uᴴ.
/// @param A  n×n. The diagonal of a complex L or U must be real, as that of a Cholesky factor is. The other triangle is
///           neither read nor written. On matrices its tiles are square
/// @note     n³/3 flops. Left-looking on tiles; on GPUs with a temporary tile for each tile on the diagonal
template <Scalar T>
void lauum(Uplo uplo, const Matrix<T>& A);
template <Scalar T>
void lauum(Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
void lauum(Layout layout, Uplo uplo, Index n, T* A, Index lda);
/// @}

/// @{
/// The Cholesky factor in the triangle `uplo` of A ← the same triangle of the inverse of the factorized matrix:
/// `trtri`, then `lauum`, without a wait between them.
/// @param A  the factor that `potrf` has computed, n×n. On matrices its tiles are square
/// @return   info, as of `trtri`
/// @note     2/3 n³ flops
template <Scalar T>
Info potri(Uplo uplo, const Matrix<T>& A);
template <Scalar T>
Index potri(Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
Index potri(Layout layout, Uplo uplo, Index n, T* A, Index lda);
/// @}

/// The pivots of a factorization on matrices. Copies share them. They may be destroyed before the tasks run.
class Pivots {
 public:
  /// Waits for the factorization.
  /// @return  min(m, n) pivots: row i, counted from 1, was exchanged with row pivots[i - 1], one after another
  /// @throws RuntimeError as `Info::wait`
  std::vector<Index> wait() const;

  /// The panels that have pivots: one for each column of tiles of the matrix that begins above its last row.
  Index panels() const noexcept;
  /// The handle of the pivots of panel k, counted from 0: a StarPU matrix of one column of `int`, which the program's
  /// own tasks may read. Let A be m×n in panels of nb columns. Then its first min(nb, min(m, n) - k nb) elements are
  /// the pivots, counted from 1 at row k nb of A. What follows is for GPUs.
  /// @throws ArgumentError if there is no such panel
  starpu_data_handle_t handle(Index k) const;

 private:
  friend struct detail::PivotsAccess;
  explicit Pivots(std::shared_ptr<detail::PivotTiles> tiles) : tiles_(std::move(tiles)) {}
  std::shared_ptr<detail::PivotTiles> tiles_;
};

/// What a factorization with pivoting on matrices leaves besides the factors.
struct Pivoted {
  Pivots pivots;  ///< the exchanges of rows
  Info info;      ///< as the routine says
};

// The routines below work on panels: columns of tiles. On matrices, a tile of A has all rows, or its rows are a
// multiple of its columns, with at most 128 rows of tiles. Tiles of B have as many rows as those of A. Good tiles have
// 4096 rows and 2048 columns on GPUs, and all rows and 128 columns on CPUs. Matrices may not be transposed. Row-major
// matrices on pointers are copied to column-major ones, and back.

/// @{
/// A ← L U with P A = L U by partial pivoting: L unit lower trapezoidal, U upper trapezoidal. On pointers, `ipiv` gets
/// the min(m, n) pivots of `Pivots::wait`, as std::int32_t or std::int64_t.
/// @param A  m×n
/// @return   info: 0, or the first i, counted from 1, for which U(i, i) is exactly zero. The factors are complete
/// @note     2/3 n³ flops if m = n. One task exchanges the rows of a panel, solves, and multiplies. Tiles of all rows
///           are written back at the end, shorter ones when their last row is final
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
/// A ← its factors, as `getrf`, and B ← A⁻¹ B.
/// @return  info, as of `getrf`. If it is not 0, B is not changed on pointers, and not defined on matrices
template <Scalar T>
Pivoted gesv(const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T, typename Int>
Index gesv(Index n, Index nrhs, T* A, Index lda, Int* ipiv, T* B, Index ldb);
template <Scalar T, typename Int>
Index gesv(Layout layout, Index n, Index nrhs, T* A, Index lda, Int* ipiv, T* B, Index ldb);
/// @}

/// @{
/// A ← the inverse of the matrix whose factors and pivots `getrf` has computed: X P, where X L = U⁻¹. On pointers, the
/// values of `ipiv` are checked.
/// @param A  the factors, n×n. A `Matrix` A has tiles with all rows, and is cut into panels like the pivots
/// @return   info: 0, or the first i, counted from 1, for which U(i, i) is exactly zero. A then has no inverse; it is
///           not changed on pointers, and not defined on matrices
/// @note     4/3 n³ flops. Temporary panels hold L, n²/2 elements
template <Scalar T>
Info getri(const Matrix<T>& A, const Pivots& pivots);
template <Scalar T, typename Int>
Index getri(Index n, T* A, Index lda, const Int* ipiv);
template <Scalar T, typename Int>
Index getri(Layout layout, Index n, T* A, Index lda, const Int* ipiv);
/// @}

/// @{
/// Exchanges rows of A, one pair after another: row i with row pivots[i]. On matrices, these are the pivots of a
/// factorization, which need not have run. On pointers, row i, k1 ≤ i ≤ k2, is exchanged with row ipiv(k1 + (i - k1)
/// |incx|), all counted from 1, as LAPACK's laswp does.
/// @param A     on matrices: with as many rows as the matrix that was factorized, in at most 128 rows of tiles. On
///              pointers: with n columns, and all rows that are exchanged
/// @param incx  if negative, the last pair comes first, which undoes the exchanges. On matrices 1 or -1; on pointers
///              nothing is done if it is 0
/// @note        On matrices, one task for each column of tiles. On pointers, the calling thread exchanges the rows,
///              because copying them to a GPU and back would take longer
template <Scalar T>
void laswp(const Matrix<T>& A, const Pivots& pivots, Index incx = 1);
template <Scalar T, typename Int>
void laswp(Index n, T* A, Index lda, Index k1, Index k2, const Int* ipiv, Index incx);
template <Scalar T, typename Int>
void laswp(Layout layout, Index n, T* A, Index lda, Index k1, Index k2, const Int* ipiv, Index incx);
/// @}

/// The reflectors of a QR factorization on matrices: their scalar factors, and what speeds up their use. Copies share
/// them. They may be destroyed before the factorization has run.
class Reflectors {
 public:
  /// Waits for the factorization.
  /// @param tau  gets min(m, n) elements
  /// @throws ArgumentError if the matrix has elements of another type; RuntimeError as `Info::wait`
  template <Scalar T>
  void wait(T* tau) const;

 private:
  friend struct detail::ReflectorsAccess;
  explicit Reflectors(std::shared_ptr<detail::ReflectorTiles> tiles) : tiles_(std::move(tiles)) {}
  std::shared_ptr<detail::ReflectorTiles> tiles_;
};

// QR factorization works on panels: columns of tiles with all rows. Good ones on GPUs have 1024 columns, and on CPUs
// 128. Matrices may not be transposed. Row-major matrices on pointers are copied to column-major ones, and back.

/// @{
/// A ← its factors, A = Q R: R, upper trapezoidal, on and above the diagonal, and below it the min(m, n) Householder
/// vectors of Q, as LAPACK stores them. `tau` gets their scalar factors.
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
/// C ← op(Q) C (Left) or C op(Q) (Right), with the first k Householder vectors that `geqrf` has left in A. For real
/// types LAPACK calls it ormqr.
/// @param op   NoTrans or ConjTrans; for real types Trans is the same as ConjTrans
/// @param A    with k columns, and m rows (Left) or n rows (Right). On matrices it is the factorized one, with m ≥ n
/// @param C    m×n. On matrices its tiles have all rows (Left) or all columns (Right)
/// @note       2 m n k (2 − k/m) multiplications and as many additions from the left
template <Scalar T>
void unmqr(Side side, Op op, const Matrix<T>& A, const Reflectors& reflectors, const Matrix<T>& C);
template <Scalar T>
void unmqr(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc);
template <Scalar T>
void unmqr(Layout layout, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C,
           Index ldc);
/// @}

/// @{
/// A ← the first n columns of Q, whose Householder vectors `geqrf` has left in the first k columns of A. For real types
/// LAPACK calls it orgqr.
/// @param A  m×n, m ≥ n ≥ k. On matrices it is the factorized one, with k = n
/// @note     4 m n k − 2 (m + n) k² + 4/3 k³ flops
template <Scalar T>
void ungqr(const Matrix<T>& A, const Reflectors& reflectors);
template <Scalar T>
void ungqr(Index m, Index n, Index k, T* A, Index lda, const T* tau);
template <Scalar T>
void ungqr(Layout layout, Index m, Index n, Index k, T* A, Index lda, const T* tau);
/// @}

/// @{
/// B ← X, where op(A) has full rank. If it has more rows than columns, X makes op(A) X − B as small as possible in each
/// column; else X is the smallest of all solutions. A ← its QR factors, or if m < n its LQ factors, as LAPACK's gels.
/// @param op   NoTrans or ConjTrans; for real types Trans is the same as ConjTrans
/// @param A    m×n. On matrices m ≥ n. If m < n, its adjoint is factorized in a copy
/// @param B    max(m, n)×nrhs: the right-hand sides in its first rows, as many as op(A) has, and then X in as many rows
///             as op(A) has columns. What is below X says how large op(A) X − B is. On matrices its tiles have all
///             rows
/// @return     info: 0, or the first i, counted from 1, for which the diagonal of R or L has a zero: op(A) has not full
///             rank, and B is not defined. If all of A is zero: 0, and X is zero
/// @note       If elements are near overflow or underflow, pointers get the factors of a scaled A, as from LAPACK. A
///             Matrix<T> is not scaled: its norm must be far from overflow and underflow
template <Scalar T>
Info gels(Op op, const Matrix<T>& A, const Matrix<T>& B);
template <Scalar T>
Index gels(Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
template <Scalar T>
Index gels(Layout layout, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);
/// @}

}  // namespace tessera
