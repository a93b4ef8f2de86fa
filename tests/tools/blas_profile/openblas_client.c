/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes eleven products through both interfaces. Fails if a result is wrong. With an argument, factorizes two unit
 * matrices instead. */
#include <cblas.h>
#include <stdlib.h>

void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);

void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);

static int factorize(int n) {
  int info = 1;
  double* a = calloc((size_t)n * n, sizeof *a);
  int* pivots = malloc(sizeof *pivots * n);
  if (a == NULL || pivots == NULL) return 2;
  for (int i = 0; i < n; i++) a[i * (n + 1)] = 1;
  dgetrf_(&n, &n, a, &n, pivots, &info);
  free(a), free(pivots);
  return info;
}

static int is_all(const double* c, int count, double expected) {
  for (int i = 0; i < count; i++)
    if (c[i] != expected) return 0;
  return 1;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return factorize(100) + factorize(101);
  const int n = 200;
  const double one = 1, zero = 0;
  double* a = malloc(sizeof *a * n * n);
  double* c = malloc(sizeof *c * n * n);
  if (a == NULL || c == NULL) return 2;
  for (int i = 0; i < n * n; i++) a[i] = 2, c[i] = 1;
  for (int call = 1; call <= 10; call++)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, a, n, 1, c, n);
  if (!is_all(c, n * n, 1 + 10 * 4.0 * n)) return 1;
  dgemm_("N", "T", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  if (!is_all(c, n * n, 4.0 * n)) return 1;
  free(a), free(c);
  return 0;
}
