// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS by loops, on the thread of a stream.
#include <cublas_v2.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <vector>

#include "blas_loops.hpp"
#include "stand_in.hpp"

namespace stand_in {

namespace {

struct Handle {
  int device;
  Stream* stream;
  bool writes_to_memory = false;
};
Handle& handle_of(cublasHandle_t handle) { return *reinterpret_cast<Handle*>(handle); }

/// Runs an operation on the stream of a handle.
template <typename Operation>
cublasStatus_t run(cublasHandle_t handle, Operation operation) {
  auto& of = handle_of(handle);
  if (of.device != current) {
    refuse(cudaErrorInvalidDevice, "a handle of cuBLAS of another device");
    return CUBLAS_STATUS_ARCH_MISMATCH;
  }
  of.stream->add(std::move(operation));
  return CUBLAS_STATUS_SUCCESS;
}

/// The triangle of C ← α op(A) op(B)ᴴ + β C, or with a plain transpose.
/// @param twice  adds the adjoint of the product
template <typename T>
cublasStatus_t update(cublasHandle_t handle, bool hermitian, cublasFillMode_t uplo, cublasOperation_t op, Index n,
                      Index k, T alpha, const Matrix<const T>& A, const Matrix<const T>& B, T beta, const Matrix<T>& C,
                      bool twice) {
  counts.updates++;
  return run(handle, [=] {
    const auto other = adjoint_of(op, hermitian);
    multiply(op, other, n, n, k, alpha, A, B, beta, C, part_of(uplo));
    if (twice) multiply(op, other, n, n, k, hermitian ? conjugate(alpha) : alpha, B, A, T(1), C, part_of(uplo));
    if (hermitian) make_diagonal_real(n, C);
  });
}

template <typename T>
cublasStatus_t symmetric(cublasHandle_t handle, Other other, cublasSideMode_t side, cublasFillMode_t uplo, Index m,
                         Index n, T alpha, const Matrix<const T>& A, const Matrix<const T>& B, T beta,
                         const Matrix<T>& C) {
  return run(handle, [=] {
    const bool left = side == CUBLAS_SIDE_LEFT;
    if (is_only_timed(m, n, left ? m : n)) return;
    multiply_square(left, CUBLAS_OP_N, m, n, alpha, completed(uplo, left ? m : n, A, other), B, beta, C);
  });
}

template <typename T>
cublasStatus_t triangular(cublasHandle_t handle, bool inverse, cublasSideMode_t side, cublasFillMode_t uplo,
                          cublasOperation_t op, cublasDiagType_t diag, Index m, Index n, T alpha,
                          const Matrix<const T>& A, const Matrix<const T>& B, const Matrix<T>& C) {
  if (inverse) counts.solves++;
  return run(handle, [=] {
    const bool left = side == CUBLAS_SIDE_LEFT, lower = (uplo == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N);
    if (is_only_timed(m, n, left ? m : n)) return;
    const auto X = completed(uplo, left ? m : n, A, Other::Zeros, diag == CUBLAS_DIAG_UNIT);
    if (inverse) return solve(left, lower, op, m, n, alpha, X, C);
    std::vector<T> copy(static_cast<std::size_t>(m * n));
    for (Index j = 0; j < n; j++) std::copy_n(&B(0, j), m, &copy[static_cast<std::size_t>(j * m)]);
    multiply_square(left, op, m, n, alpha, X, Matrix<const T>{copy.data(), m}, T{}, C);
  });
}

template <typename T>
cublasStatus_t add(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Index m, Index n, T alpha,
                   const Matrix<const T>& A, T beta, const Matrix<const T>& B, const Matrix<T>& C) {
  return run(handle, [=] {
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++)
        C(i, j) =
            (alpha == T{} ? T{} : alpha * element(op_a, A, i, j)) + (beta == T{} ? T{} : beta * element(op_b, B, i, j));
  });
}

/// Calls visit(element of the triangle, element of the packed triangle).
template <typename T, typename P, typename Visit>
cublasStatus_t packed(cublasHandle_t handle, cublasFillMode_t uplo, Index n, const Matrix<T>& A, P* of_packed,
                      Visit visit) {
  return run(handle, [=] {
    auto* next = of_packed;
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
    for (Index j = 0; j < n; j++)
      for (Index i = lower ? j : 0; i < (lower ? n : j + 1); i++) visit(A(i, j), *next++);
  });
}

template <typename T>
double magnitude(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

/// A reduction, which waits unless its result goes to memory.
template <typename Operation>
cublasStatus_t reduce(cublasHandle_t handle, Operation operation) {
  const auto status = run(handle, operation);
  if (!handle_of(handle).writes_to_memory) counts.stream_waits++, handle_of(handle).stream->wait();
  return status;
}

template <typename T>
struct NumberOf {
  using Type = T;
};
template <>
struct NumberOf<cuComplex> {
  using Type = std::complex<float>;
};
template <>
struct NumberOf<cuDoubleComplex> {
  using Type = std::complex<double>;
};
template <typename T>
auto* number(T* x) {
  return reinterpret_cast<typename NumberOf<T>::Type*>(x);
}
template <typename T>
auto* number(const T* x) {
  return reinterpret_cast<const typename NumberOf<T>::Type*>(x);
}
template <typename T>
auto matrix(T* data, Index ld) {
  return Matrix<std::remove_pointer_t<decltype(number(data))>>{number(data), ld};
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new Handle{current, &stream_of(nullptr)});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  need_context();
  handle_of(handle).stream->wait();
  return delete &handle_of(handle), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return handle_of(handle).stream = &stream_of(stream), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return handle_of(handle).writes_to_memory = mode == CUBLAS_POINTER_MODE_DEVICE, CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) {
  static thread_local char text[40];
  std::snprintf(text, sizeof text, "status %d of cuBLAS", static_cast<int>(status));
  return text;
}

#define GIVEN cublasHandle_t handle
#define OPTIONS cublasSideMode_t side, cublasFillMode_t uplo, int m, int n
#define FACTORS(T) const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc
#define ONE_FACTOR(T, R) const R *alpha, const T *A, int lda, const R *beta, T *C, int ldc
#define TRIANGLE cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int m, int n
#define OF_TYPE(L, T, R, asum, amax)                                                                                 \
  cublasStatus_t cublas##L##gemm_v2(GIVEN, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,            \
                                    FACTORS(T)) {                                                                    \
    if (lda < std::max(1, a == CUBLAS_OP_N ? m : k) || ldb < std::max(1, b == CUBLAS_OP_N ? k : n) || ldc < m)       \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                            \
    if (m > 0 && n > 0 && k > 0)                                                                                     \
      for (const void* x : {static_cast<const void*>(A), static_cast<const void*>(B), static_cast<const void*>(C)})  \
        require_access(current, x, "gemm");                                                                          \
    return run(handle, [=, x = *number(alpha), y = *number(beta)] {                                                  \
      if (!is_only_timed(m, n, k)) multiply(a, b, m, n, k, x, matrix(A, lda), matrix(B, ldb), y, matrix(C, ldc));    \
    });                                                                                                              \
  }                                                                                                                  \
  cublasStatus_t cublas##L##gemmBatched(GIVEN, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,        \
                                        const T* alpha, const T* const A[], int lda, const T* const B[], int ldb,    \
                                        const T* beta, T* const C[], int ldc, int count) {                           \
    return run(handle, [=, x = *number(alpha), y = *number(beta)] {                                                  \
      for (int i = 0; i < count; i++)                                                                                \
        multiply(a, b, m, n, k, x, matrix(A[i], lda), matrix(B[i], ldb), y, matrix(C[i], ldc));                      \
    });                                                                                                              \
  }                                                                                                                  \
  cublasStatus_t cublas##L##symm_v2(GIVEN, OPTIONS, FACTORS(T)) {                                                    \
    return symmetric(handle, Other::Mirrored, side, uplo, m, n, *number(alpha), matrix(A, lda), matrix(B, ldb),      \
                     *number(beta), matrix(C, ldc));                                                                 \
  }                                                                                                                  \
  cublasStatus_t cublas##L##syrk_v2(GIVEN, cublasFillMode_t uplo, cublasOperation_t op, int n, int k,                \
                                    ONE_FACTOR(T, T)) {                                                              \
    return update(handle, false, uplo, op, n, k, *number(alpha), matrix(A, lda), matrix(A, lda), *number(beta),      \
                  matrix(C, ldc), false);                                                                            \
  }                                                                                                                  \
  cublasStatus_t cublas##L##syr2k_v2(GIVEN, cublasFillMode_t uplo, cublasOperation_t op, int n, int k, FACTORS(T)) { \
    return update(handle, false, uplo, op, n, k, *number(alpha), matrix(A, lda), matrix(B, ldb), *number(beta),      \
                  matrix(C, ldc), true);                                                                             \
  }                                                                                                                  \
  cublasStatus_t cublas##L##trmm_v2(GIVEN, TRIANGLE, const T* alpha, const T* A, int lda, const T* B, int ldb, T* C, \
                                    int ldc) {                                                                       \
    return triangular(handle, false, side, uplo, op, diag, m, n, *number(alpha), matrix(A, lda), matrix(B, ldb),     \
                      matrix(C, ldc));                                                                               \
  }                                                                                                                  \
  cublasStatus_t cublas##L##trsm_v2(GIVEN, TRIANGLE, const T* alpha, const T* A, int lda, T* B, int ldb) {           \
    return triangular(handle, true, side, uplo, op, diag, m, n, *number(alpha), matrix(A, lda),                      \
                      matrix(static_cast<const T*>(B), ldb), matrix(B, ldb));                                        \
  }                                                                                                                  \
  cublasStatus_t cublas##L##geam(GIVEN, cublasOperation_t a, cublasOperation_t b, int m, int n, const T* alpha,      \
                                 const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {           \
    return add(handle, a, b, m, n, *number(alpha), matrix(A, lda), *number(beta), matrix(B, ldb), matrix(C, ldc));   \
  }                                                                                                                  \
  cublasStatus_t cublas##L##copy_v2(GIVEN, int n, const T* x, int step, T* y, int y_step) {                          \
    return run(handle, [=] {                                                                                         \
      for (Index i = 0; i < n; i++) y[i * y_step] = x[i * step];                                                     \
    });                                                                                                              \
  }                                                                                                                  \
  cublasStatus_t cublas##L##trttp(GIVEN, cublasFillMode_t uplo, int n, const T* A, int lda, T* to) {                 \
    return packed(handle, uplo, n, matrix(A, lda), number(to), [](const auto& x, auto& y) { y = x; });               \
  }                                                                                                                  \
  cublasStatus_t cublas##L##tpttr(GIVEN, cublasFillMode_t uplo, int n, const T* from, T* A, int lda) {               \
    return packed(handle, uplo, n, matrix(A, lda), number(from), [](auto& x, const auto& y) { x = y; });             \
  }                                                                                                                  \
  cublasStatus_t asum(GIVEN, int n, const T* x, int /*step*/, R* sum) {                                              \
    return reduce(handle, [=] {                                                                                      \
      double total = 0;                                                                                              \
      for (Index i = 0; i < n; i++) total += magnitude(number(x)[i]);                                                \
      *sum = static_cast<R>(total);                                                                                  \
    });                                                                                                              \
  }                                                                                                                  \
  cublasStatus_t amax(GIVEN, int n, const T* x, int /*step*/, int* index) {                                          \
    return reduce(handle, [=, all = number(x)] {                                                                     \
      const auto less = [](const auto& a, const auto& b) { return magnitude(a) < magnitude(b); };                    \
      *index = n > 0 ? static_cast<int>(std::max_element(all, all + n, less) - all) + 1 : 0;                         \
    });                                                                                                              \
  }
OF_TYPE(S, float, float, cublasSasum_v2, cublasIsamax_v2)
OF_TYPE(D, double, double, cublasDasum_v2, cublasIdamax_v2)
OF_TYPE(C, cuComplex, float, cublasScasum_v2, cublasIcamax_v2)
OF_TYPE(Z, cuDoubleComplex, double, cublasDzasum_v2, cublasIzamax_v2)

#define HERMITIAN(L, T, R)                                                                                             \
  cublasStatus_t cublas##L##hemm_v2(GIVEN, OPTIONS, FACTORS(T)) {                                                      \
    return symmetric(handle, Other::Conjugated, side, uplo, m, n, *number(alpha), matrix(A, lda), matrix(B, ldb),      \
                     *number(beta), matrix(C, ldc));                                                                   \
  }                                                                                                                    \
  cublasStatus_t cublas##L##herk_v2(GIVEN, cublasFillMode_t uplo, cublasOperation_t op, int n, int k,                  \
                                    ONE_FACTOR(T, R)) {                                                                \
    return update<NumberOf<T>::Type>(handle, true, uplo, op, n, k, *alpha, matrix(A, lda), matrix(A, lda), *beta,      \
                                     matrix(C, ldc), false);                                                           \
  }                                                                                                                    \
  cublasStatus_t cublas##L##her2k_v2(GIVEN, cublasFillMode_t uplo, cublasOperation_t op, int n, int k, const T* alpha, \
                                     const T* A, int lda, const T* B, int ldb, const R* beta, T* C, int ldc) {         \
    return update<NumberOf<T>::Type>(handle, true, uplo, op, n, k, *number(alpha), matrix(A, lda), matrix(B, ldb),     \
                                     *beta, matrix(C, ldc), true);                                                     \
  }
HERMITIAN(C, cuComplex, float)
HERMITIAN(Z, cuDoubleComplex, double)

}  // extern "C"

}  // namespace stand_in
