// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for a module of NumPy from PyPI, which calls the OpenBLAS of wheel_blas.c.
#include <stdint.h>

void scipy_cblas_dgemm64_(int order, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* A,
                          int64_t lda, const double* B, int64_t ldb, double beta, double* C, int64_t ldc);
void scipy_dgesv_64_(const int64_t* n, const int64_t* nrhs, double* A, const int64_t* lda, int64_t* ipiv, double* B,
                     const int64_t* ldb, int64_t* info);
void scipy_dtrsm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,
                  const double* alpha, const double* A, const int* lda, double* B, const int* ldb);
double scipy_dasum_64_(const int64_t* n, const double* x, const int64_t* incx);

void multiply(int64_t n, const double* A, const double* B, double* C) {
  scipy_cblas_dgemm64_(102, 111, 111, n, n, n, 1, A, n, B, n, 0, C, n);
}
int64_t solve(int64_t n, double* A, int64_t* pivots, double* b) {
  const int64_t one = 1;
  int64_t info = -1;
  scipy_dgesv_64_(&n, &one, A, &n, pivots, b, &n, &info);
  return info;
}
void solve_triangle(int n, const double* A, double* B) {
  const double one = 1;
  scipy_dtrsm_("L", "L", "N", "N", &n, &n, &one, A, &n, B, &n);
}
double sum(int64_t n, const double* x) {
  const int64_t one = 1;
  return scipy_dasum_64_(&n, x, &one);
}
