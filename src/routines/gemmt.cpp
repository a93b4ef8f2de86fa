// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "product.hpp"

namespace tessera {

template <Scalar T>
void gemmt(Uplo uplo, Op op_a, Op op_b, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
           std::type_identity_t<T> beta, const Matrix<T>& C) {
  detail::product<T>("gemmt", uplo, op_a, op_b, alpha, A, B, beta, C);
}

namespace {

template <Scalar T>
void call(std::optional<Layout> layout, Uplo uplo, Op op_a, Op op_b, Index n, Index k, T alpha, const T* A, Index lda,
          const T* B, Index ldb, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      "gemmt",
      arguments::TriangleProductCall{uplo,
                                     {{sizeof(T), rows}, op_a, op_b, n, n, k, A, lda, B, ldb, C, ldc, alpha != T{}}},
      layout);
  detail::product_on_pointers<T>("gemmt", rows, uplo, op_a, op_b, n, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

}  // namespace

template <Scalar T>
void gemmt(Uplo uplo, Op op_a, Op op_b, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T>({}, uplo, op_a, op_b, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <Scalar T>
void gemmt(Layout layout, Uplo uplo, Op op_a, Op op_b, Index n, Index k, std::type_identity_t<T> alpha, const T* A,
           Index lda, const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T>(layout, uplo, op_a, op_b, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define INSTANTIATE(T)                                                                                   \
  template void gemmt<T>(Uplo, Op, Op, T, const Matrix<T>&, const Matrix<T>&, T, const Matrix<T>&);      \
  template void gemmt<T>(Uplo, Op, Op, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index); \
  template void gemmt<T>(Layout, Uplo, Op, Op, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera
