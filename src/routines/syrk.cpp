// SPDX-License-Identifier: BSD-3-Clause
// syrk and herk: one triangle of the product of a matrix and its transpose, or conjugate transpose.
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "rank_update.hpp"

namespace tessera {

namespace {

template <Scalar T, bool hermitian>
void call(const char* routine, std::optional<Layout> layout, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A,
          Index lda, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      routine,
      arguments::RankKCall{
          {sizeof(T), rows}, detail::update_ops<T, hermitian>, uplo, op, n, k, A, lda, C, ldc, alpha != T{}},
      layout);
  detail::rank_update_on_pointers<T, hermitian>(routine, rows, false, uplo, op, n, k, alpha, A, lda, nullptr, 0, beta,
                                                C, ldc);
}

}  // namespace

template <Scalar T>
void syrk(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, std::type_identity_t<T> beta,
          const Matrix<T>& C) {
  detail::rank_update<T, false>("syrk", uplo, op, alpha, A, nullptr, beta, C);
}
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Real<T> alpha, const Matrix<T>& A, Real<T> beta, const Matrix<T>& C) {
  detail::rank_update<T, true>("herk", uplo, op, alpha, A, nullptr, beta, C);
}

template <Scalar T>
void syrk(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
          std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syrk", {}, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}
template <Scalar T>
void syrk(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
          std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syrk", layout, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc) {
  call<T, true>("herk", {}, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}
template <ComplexScalar T>
void herk(Layout layout, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
          Index ldc) {
  call<T, true>("herk", layout, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}

#define INSTANTIATE(routine, T, Factor)                                                         \
  template void routine<T>(Uplo, Op, Factor, const Matrix<T>&, Factor, const Matrix<T>&);       \
  template void routine<T>(Uplo, Op, Index, Index, Factor, const T*, Index, Factor, T*, Index); \
  template void routine<T>(Layout, Uplo, Op, Index, Index, Factor, const T*, Index, Factor, T*, Index);
INSTANTIATE(syrk, float, float)
INSTANTIATE(syrk, double, double)
INSTANTIATE(syrk, std::complex<float>, std::complex<float>)
INSTANTIATE(syrk, std::complex<double>, std::complex<double>)
INSTANTIATE(herk, std::complex<float>, float)
INSTANTIATE(herk, std::complex<double>, double)
#undef INSTANTIATE

}  // namespace tessera
