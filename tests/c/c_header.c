/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C: the header compiles as C, and the library can be called from C. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tessera/tessera.h>

enum { n = 3 };

static int failures = 0;

static void check(int condition, const char* what) {
  if (!condition) {
    printf("failed: %s (last error: %s)\n", what, tessera_last_error());
    failures++;
  }
}

int main(void) {
  const double A[n * n] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, B[n * n] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
  double C[n * n] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const double expected[n * n] = {3, 5, 7, 17, 21, 25, 43, 49, 55}; /* 2 A B + C */
  const double transposed[n * n] = {3, 17, 43, 5, 21, 49, 7, 25, 55};
  double rows[n * n] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, X[n * n] = {2, 4, 6, 8, 10, 12, 14, 16, 18};
  const double half = 0.5, zero = 0, one = 1;
  tessera_matrix *a = NULL, *b = NULL, *c = NULL, *x = NULL, *column = NULL, *column_t = NULL;

  check(strlen(tessera_version()) >= 5, "a version");
  check(strcmp(tessera_last_error(), "") == 0, "no error before the first");
  check(tessera_init(-1, -1) == TESSERA_SUCCESS, "init");
  check(tessera_dgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, n, n, n, 2, A, n, B, n, 1, C, n) == 0,
        "dgemm");
  check(memcmp(C, expected, sizeof C) == 0, "the product on pointers");
  check(tessera_dgemm(TESSERA_ROW_MAJOR, TESSERA_TRANS, TESSERA_TRANS, n, n, n, 2, A, n, B, n, 1, rows, n) == 0,
        "dgemm by rows");
  check(memcmp(rows, transposed, sizeof rows) == 0, "the product by rows");
  check(tessera_dgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, n, -n, n, 2, A, n, B, n, 1, C, n) == -5,
        "status of n < 0");
  check(strstr(tessera_last_error(), "-3") != NULL, "the value in the message");

  check(tessera_matrix_create('d', (void*)A, n, n, n, 2, 2, &a) == TESSERA_SUCCESS, "matrix A");
  check(tessera_matrix_create('d', (void*)B, n, n, n, 2, 2, &b) == TESSERA_SUCCESS, "matrix B");
  check(tessera_matrix_create('d', C, n, n, n, 2, 2, &c) == TESSERA_SUCCESS, "matrix C");
  check(tessera_matrix_mt(c) == 2 && tessera_matrix_nt(c) == 2, "its tiles");
  check(tessera_matrix_handle(c, 1, 1) != NULL && tessera_matrix_handle(c, 2, 0) == NULL, "their handles");
  check(tessera_gemm_submit(TESSERA_NO_TRANS, TESSERA_NO_TRANS, &half, a, b, &zero, c) == TESSERA_SUCCESS, "submit");
  check(tessera_matrix_wait(c) == TESSERA_SUCCESS, "wait");
  check(fabs(C[0] - 0.5) < 1e-15 && fabs(C[8] - 13.5) < 1e-15, "the product on tiles");

  check(tessera_matrix_create('d', X, n, n, n, 2, 2, &x) == TESSERA_SUCCESS, "matrix X");
  check(tessera_matrix_view(x, 0, 2, 1, 2, &column) == TESSERA_SUCCESS, "the last column of its tiles");
  check(tessera_matrix_transposed(column, TESSERA_TRANS, &column_t) == TESSERA_SUCCESS, "its transpose");
  check(tessera_matrix_mt(column_t) == 1 && tessera_matrix_nt(column_t) == 2, "the tiles of the transpose");
  check(tessera_trsm_submit(TESSERA_RIGHT, TESSERA_LOWER, TESSERA_NO_TRANS, TESSERA_NON_UNIT, &one, b, column_t) == 0,
        "trsm on a view");
  check(tessera_matrix_destroy(x) == 0 && tessera_matrix_destroy(column) == 0, "destroy what others share");
  check(tessera_matrix_destroy(column_t) == 0, "destroy the last one, which waits");
  check(X[5] == 12 && fabs(X[6] - 14) < 1e-15 && fabs(X[7] - 8) < 1e-15 && fabs(X[8] - 6) < 1e-15, "the solution");

  check(tessera_matrix_destroy(a) == 0 && tessera_matrix_destroy(b) == 0 && tessera_matrix_destroy(c) == 0, "destroy");
  check(tessera_wait() == TESSERA_SUCCESS, "wait for all");
  check(tessera_finalize() == TESSERA_SUCCESS, "finalize");
  return failures != 0;
}
