/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a BLAS and a LAPACK of its own, under the usual names, but with other arguments: integers of 64 bits,
   as in libopenblas64. Tessera must not call them, and neither must the OpenBLAS that Tessera calls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

static void called(const char* name) {
  fprintf(stderr, "the program's own %s was called\n", name);
  _Exit(1);
}

#define FUNCTION(name) \
  void name(void);     \
  void name(void) { called(#name); }
#include "host_blas.def"
#include "host_lapack.def"
/* What OpenBLAS calls by name itself, and its own settings. */
FUNCTION(dgemm_)
FUNCTION(dtrsm_)
FUNCTION(dswap_)
FUNCTION(dgemv_)
FUNCTION(dlaswp_plus)
FUNCTION(dgetrf_single)
FUNCTION(dpotrf_L_single)
FUNCTION(exec_blas)
FUNCTION(openblas_get_num_threads)
FUNCTION(openblas_set_num_threads)

enum { n = 100, elements = n * n };
static double A[elements], B[elements], C[elements];
static int64_t pivots[n];

/* A ← `diagonal` on its diagonal and 1/2 elsewhere, B ← ones. */
static void fill(double diagonal) {
  for (int i = 0; i < elements; i++) A[i] = i % (n + 1) == 0 ? diagonal : 0.5, B[i] = 1;
}

static int wrong(const char* call, tessera_status status, double found, double expected) {
  if (status == TESSERA_SUCCESS && fabs(found - expected) < 1e-9 * fabs(expected)) return 0;
  fprintf(stderr, "%s: status %d, %.12g instead of %.12g\n", call, (int)status, found, expected);
  return 1;
}

int main(void) {
  const double sum = n + 0.5 * (n - 1); /* of a row */
  int64_t info = -1;
  int bad = 0;
  fill(n);
  tessera_status status =
      tessera_dgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, n, n, n, 1, A, n, B, n, 0, C, n);
  bad += wrong("dgemm", status, C[elements - 1], sum);
  status = tessera_dgesv(TESSERA_COL_MAJOR, n, n, A, n, pivots, B, n, &info);
  bad += wrong("dgesv", status, B[elements - 1], 1 / sum);
  fill(n);
  status = tessera_dposv(TESSERA_COL_MAJOR, TESSERA_LOWER, n, n, A, n, B, n, &info);
  bad += wrong("dposv", status, B[elements - 1], 1 / sum);
  status = tessera_dpotri(TESSERA_COL_MAJOR, TESSERA_LOWER, n, A, n, &info);
  /* The inverse of a I + b J is (I − b J / (a + n b)) / a. */
  bad += wrong("dpotri", status, A[1], -0.5 / (sum * (n - 0.5)));
  fill(n);
  status = tessera_dtrtri(TESSERA_COL_MAJOR, TESSERA_LOWER, TESSERA_NON_UNIT, n, A, n, &info);
  bad += wrong("dtrtri", status, A[elements - 1], 1.0 / n);
  fill(n);
  status = tessera_dgetrf(TESSERA_COL_MAJOR, n, n, A, n, pivots, &info);
  if (status == TESSERA_SUCCESS) status = tessera_dgetri(TESSERA_COL_MAJOR, n, A, n, pivots, &info);
  bad += wrong("dgetri", status, A[1], -0.5 / (sum * (n - 0.5)));
  return bad != 0;
}
