/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that returns from main without tessera_finalize. */
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

enum { n = 300 };

int main(void) {
  double *const A = malloc(n * n * sizeof(double)), *const C = malloc(n * n * sizeof(double));
  int i;
  if (A == NULL || C == NULL) return 1;
  if (tessera_init(-1, -1) != TESSERA_SUCCESS)
    return strstr(tessera_last_error(), "this machine has 0") != NULL ? 77 : 1; /* skipped */
  for (i = 0; i < n * n; i++) A[i] = i % 7;
  if (tessera_host_register(C, n * n * sizeof(double)) != TESSERA_SUCCESS) return 2;
  if (tessera_dgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_TRANS, n, n, n, 1, A, n, A, n, 0, C, n) != 0) return 3;
  for (i = 0; i < n; i++)
    if (C[i + i * n] <= 0) return 4;
  return 0;
}
