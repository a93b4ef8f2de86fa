// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>

// A stand-in for a BLAS: its product is 42. As an OpenBLAS, it has no threads.
int openblas_get_parallel(void) { return 0; }
void* blas_memory_alloc(int place) {
  (void)place;
  abort();  // called by another OpenBLAS
}
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* A, const int* lda, const double* B, const int* ldb, const double* beta, double* C,
            const int* ldc) {
  (void)op_a, (void)op_b, (void)m, (void)n, (void)k, (void)alpha, (void)A, (void)lda, (void)B, (void)ldb, (void)beta,
      (void)ldc;
  *C = 42;
}
