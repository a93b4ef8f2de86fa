// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/matrix.hpp>

/// @file
/// Factorizations and solves, by the names and argument orders of LAPACK: on matrices of tiles, which submit tasks and
/// return as the routines of <tessera/blas3.hpp>, and on pointers, which wait as those of <tessera/blas.hpp>. What
/// these headers say of errors, layouts, leading dimensions, triangles and threads holds here, too.
///
/// A matrix that cannot be factorized is not an error: `info` says so. On pointers it is returned, on matrices it is a
/// value that exists when the factorization has run.

namespace tessera {

namespace detail {
class Outcome;
struct InfoAccess;
}  // namespace detail

/// The `info` of a factorization on matrices. Copies share it. It may be destroyed before the factorization has run.
class Info {
 public:
  /// Waits for the factorization. The factor may still be in a GPU's memory: `Matrix<T>::wait` writes it back.
  /// @return  0, or what the routine says of its matrix
  /// @throws RuntimeError if a tile operation of the factorization has failed; or within a StarPU task or its callback
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
/// @note     n³/3 flops. Blocked left-looking factorization with the next panel ahead: Bogdanov (2024); the update
///           of a tile is one chain of products
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
/// @param B  n×nrhs
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

}  // namespace tessera
