/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain LAPACK program, without Tessera. It solves systems several times with dgesv and dposv, on memory from malloc.
 *
 *   ./13_plain_lapack 16384                                   # on the host
 *   LD_PRELOAD=libtessera_blas.so ./13_plain_lapack 16384     # with the drop-in
 *
 * Arguments: the size n and the number of calls (default 1000 and 3). Exits with 1 if a solution is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dgesv_(const int* n, const int* nrhs, double* A, const int* lda, int* ipiv, double* B, const int* ldb, int* info);
void dposv_(const char* uplo, const int* n, const int* nrhs, double* A, const int* lda, double* B, const int* ldb,
            int* info);

enum { right_sides = 10 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* allocate(size_t elements, size_t size) {
  void* const memory = malloc(elements * size);
  if (memory == NULL) exit(2);
  return memory;
}

/* A symmetric positive definite matrix: random elements, whose matrix has a norm of at most about 0.6 sqrt(n), plus
 * more than that on the diagonal. */
static double* positive_matrix(int n) {
  const size_t rows = (size_t)n;
  double* const A = allocate(rows * rows, sizeof *A);
  unsigned long long state = 88172645463325252ULL;
  for (size_t j = 0; j < rows; j++)
    for (size_t i = 0; i <= j; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      const double x = (double)(state >> 11) * 0x1p-53 - 0.5;
      A[i + j * rows] = A[j + i * rows] = i == j ? x + 2 + sqrt((double)n) : x;
    }
  return A;
}

static double larger(double x, double y) { return y <= x ? x : y; } /* a NaN as y stays */

/* The largest |B - A X| / (n |A| |X| u) with maximum norms. LAPACK's testers accept up to 30. */
static double residual(int n, const double* A, const double* B, const double* X) {
  const size_t rows = (size_t)n;
  double* const sums = calloc(rows, sizeof *sums);
  if (sums == NULL) exit(2);
  for (size_t j = 0; j < rows; j++)
    for (size_t i = 0; i < rows; i++) sums[i] += fabs(A[i + j * rows]);
  double norm_a = 0, norm_x = 0, difference = 0;
  for (size_t i = 0; i < rows; i++) norm_a = larger(norm_a, sums[i]);
  for (size_t i = 0; i < rows * right_sides; i++) norm_x = larger(norm_x, fabs(X[i]));
  for (size_t k = 0; k < right_sides; k++) {
    memcpy(sums, B + k * rows, rows * sizeof *sums);
    for (size_t j = 0; j < rows; j++)
      for (size_t i = 0; i < rows; i++) sums[i] -= A[i + j * rows] * X[j + k * rows];
    for (size_t i = 0; i < rows; i++) difference = larger(difference, fabs(sums[i]));
  }
  free(sums);
  return difference / (n * norm_a * norm_x * 0x1p-53);
}

int main(int count, char** words) {
  const int n = count > 1 ? atoi(words[1]) : 1000, calls = count > 2 ? atoi(words[2]) : 3, nrhs = right_sides;
  if (n < 1 || calls < 1) {
    fprintf(stderr, "usage: %s [N [CALLS]], both at least 1\n", words[0]);
    return 2;
  }
  const size_t elements = (size_t)n * (size_t)n, right = (size_t)n * right_sides;
  double *const A = positive_matrix(n), *const factors = allocate(elements, sizeof *A),
                *const B = allocate(right, sizeof *B), *const X = allocate(right, sizeof *X);
  int* const ipiv = allocate((size_t)n, sizeof *ipiv);
  for (size_t i = 0; i < right; i++) B[i] = 1 + sin((double)i);
  int wrong = 0;
  for (int general = 1; general >= 0; general--) {
    const double cubes = (general ? 2e-12 : 1e-12) / 3 * n * (double)n * n;
    for (int call = 1; call <= calls; call++) {
      int info = 0;
      memcpy(factors, A, elements * sizeof *A), memcpy(X, B, right * sizeof *B);
      const double begin = now();
      if (general) dgesv_(&n, &nrhs, factors, &n, ipiv, X, &n, &info);
      else dposv_("L", &n, &nrhs, factors, &n, X, &n, &info);
      const double seconds = now() - begin;
      printf("%s, call %d: %8.4f s, %8.3f TFLOP/s\n", general ? "dgesv" : "dposv", call, seconds, cubes / seconds);
      if (info != 0) printf("info is %d\n", info), wrong = 1;
    }
    const double error = residual(n, A, B, X);
    printf("residual %.2g, must be at most 30\n", error);
    if (!(error <= 30)) wrong = 1;
  }
  free(A), free(factors), free(B), free(X), free(ipiv);
  return wrong;
}
