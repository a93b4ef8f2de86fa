// SPDX-License-Identifier: BSD-3-Clause
// syr2k and her2k: one triangle of the sum of a product and its transpose, or conjugate transpose.
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "rank_update.hpp"

namespace tessera {

namespace {

template <Scalar T, bool hermitian>
void call(const char* routine, std::optional<Layout> layout, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A,
          Index lda, const T* B, Index ldb, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      routine,
      arguments::Rank2kCall{
          {sizeof(T), rows}, detail::update_ops<T, hermitian>, uplo, op, n, k, A, lda, B, ldb, C, ldc, alpha != T{}},
      layout);
  detail::rank_update_on_pointers<T, hermitian>(routine, rows, true, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C,
                                                ldc);
}

}  // namespace

template <Scalar T>
void syr2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
           std::type_identity_t<T> beta, const Matrix<T>& C) {
  detail::rank_update<T, false>("syr2k", uplo, op, alpha, A, &B, beta, C);
}
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B, Real<T> beta,
           const Matrix<T>& C) {
  detail::rank_update<T, true>("her2k", uplo, op, alpha, A, &B, beta, C);
}

template <Scalar T>
void syr2k(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
           Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syr2k", {}, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <Scalar T>
void syr2k(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syr2k", layout, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
           Index ldb, Real<T> beta, T* C, Index ldc) {
  call<T, true>("her2k", {}, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <ComplexScalar T>
void her2k(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, Real<T> beta, T* C, Index ldc) {
  call<T, true>("her2k", layout, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define INSTANTIATE(routine, T, Beta)                                                                     \
  template void routine<T>(Uplo, Op, T, const Matrix<T>&, const Matrix<T>&, Beta, const Matrix<T>&);      \
  template void routine<T>(Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, Beta, T*, Index); \
  template void routine<T>(Layout, Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, Beta, T*, Index);
INSTANTIATE(syr2k, float, float)
INSTANTIATE(syr2k, double, double)
INSTANTIATE(syr2k, std::complex<float>, std::complex<float>)
INSTANTIATE(syr2k, std::complex<double>, std::complex<double>)
INSTANTIATE(her2k, std::complex<float>, float)
INSTANTIATE(her2k, std::complex<double>, double)
#undef INSTANTIATE

}  // namespace tessera
