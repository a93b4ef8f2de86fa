/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain BLAS program, without Tessera. It calls dgemm several times, on memory from malloc.
 *
 *   ./04_plain_blas 16384                                   # on the host
 *   LD_PRELOAD=libtessera_blas.so ./04_plain_blas 16384     # on all GPUs
 *
 * Arguments: the size n and the number of calls (default 1000 and 5). With the third argument `steps`, each result is
 * the B of the next call: B <- A B. Exits with 1 if the last result is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* A, const int* lda, const double* B, const int* ldb, const double* beta, double* C,
            const int* ldc);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double* random_matrix(int n) {
  const size_t elements = (size_t)n * (size_t)n;
  double* const A = malloc(elements * sizeof *A);
  if (A == NULL) exit(2);
  unsigned long long state = 88172645463325252ULL + (unsigned long long)(size_t)A;
  for (size_t i = 0; i < elements; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    A[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
  }
  return A;
}

/* The largest |C x - A (B x)| divided by the largest |C x|, with x = 1. Rounding errors stay below 1e-12 for all n. */
static double error(int n, const double* A, const double* B, const double* C) {
  double *bx = calloc((size_t)n, sizeof *bx), *abx = calloc((size_t)n, sizeof *abx),
         *cx = calloc((size_t)n, sizeof *cx);
  if (bx == NULL || abx == NULL || cx == NULL) exit(2);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      bx[i] += B[i + (size_t)j * (size_t)n];
      cx[i] += C[i + (size_t)j * (size_t)n];
    }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) abx[i] += A[i + (size_t)j * (size_t)n] * bx[j];
  double difference = 0, largest = 0;
  for (int i = 0; i < n; i++) {
    difference = fmax(difference, fabs(cx[i] - abx[i]));
    largest = fmax(largest, fabs(cx[i]));
    if (!isfinite(cx[i])) difference = INFINITY;
  }
  free(bx), free(abx), free(cx);
  return difference / largest;
}

int main(int count, char** words) {
  const int n = count > 1 ? atoi(words[1]) : 1000, calls = count > 2 ? atoi(words[2]) : 5;
  if (n < 1 || calls < 1) {
    fprintf(stderr, "usage: %s [N [CALLS [steps]]], both at least 1\n", words[0]);
    return 2;
  }
  const double one = 1, zero = 0;
  double *A = random_matrix(n), *B = random_matrix(n), *C = random_matrix(n);
  const int steps = count > 3 && strcmp(words[3], "steps") == 0;
  for (int call = 1; call <= calls; call++) {
    if (steps && call > 1) {
      double* const result = C;
      C = B, B = result;
    }
    const double begin = now();
    dgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
    const double seconds = now() - begin;
    printf("call %d: %8.4f s, %8.3f TFLOP/s\n", call, seconds, 2e-12 * n * (double)n * n / seconds);
  }
  const double wrong = error(n, A, B, C);
  printf("error %.1e\n", wrong);
  free(A), free(B), free(C);
  return wrong < 1e-12 ? 0 : 1;
}
