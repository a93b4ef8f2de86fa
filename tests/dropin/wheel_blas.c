// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for the OpenBLAS of NumPy and SciPy from PyPI. Most of its functions leave their results as they are.
#include <stdint.h>

#define UNUSED __attribute__((unused))

void scipy_cblas_dgemm64_(UNUSED int order, UNUSED int op_a, UNUSED int op_b, UNUSED int64_t m, UNUSED int64_t n,
                          UNUSED int64_t k, UNUSED double alpha, UNUSED const double* A, UNUSED int64_t lda,
                          UNUSED const double* B, UNUSED int64_t ldb, UNUSED double beta, UNUSED double* C,
                          UNUSED int64_t ldc) {}
void scipy_dgesv_64_(UNUSED const int64_t* n, UNUSED const int64_t* nrhs, UNUSED double* A, UNUSED const int64_t* lda,
                     UNUSED int64_t* ipiv, UNUSED double* B, UNUSED const int64_t* ldb, UNUSED int64_t* info) {}
void scipy_dtrsm_(UNUSED const char* side, UNUSED const char* uplo, UNUSED const char* op, UNUSED const char* diag,
                  UNUSED const int* m, UNUSED const int* n, UNUSED const double* alpha, UNUSED const double* A,
                  UNUSED const int* lda, UNUSED double* B, UNUSED const int* ldb) {}
double scipy_dasum_64_(UNUSED const int64_t* n, UNUSED const double* x, UNUSED const int64_t* incx) { return 42; }
