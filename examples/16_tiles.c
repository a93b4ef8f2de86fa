/* SPDX-License-Identifier: BSD-3-Clause */
/* 02_overlap.cpp in C: routines on tiled matrices return at once, and the program waits once, at the end.
 *
 *   cc 16_tiles.c $(pkg-config --cflags --libs tessera) && ./a.out */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>

enum { n = 600, tile = 200 };

static void require(tessera_status status) {
  if (status == TESSERA_SUCCESS) return;
  fprintf(stderr, "%s\n", tessera_last_error());
  exit(1);
}

/* Divides a column-major n×n matrix in the program's memory into tiles. */
static tessera_matrix* tiles_of(double* values) {
  tessera_matrix* result = NULL;
  require(tessera_matrix_create('d', values, n, n, n, tile, tile, &result));
  return result;
}

static double a[n * n], b[n * n], d[n * n];

int main(void) {
  const double one = 1, zero = 0;
  for (int i = 0; i < n; i++) a[i + i * n] = 2; /* A = 2 I */
  for (int i = 0; i < n * n; i++) b[i] = 1;
  tessera_matrix *A = tiles_of(a), *B = tiles_of(b), *C = NULL, *D = tiles_of(d);
  require(tessera_matrix_create_without_memory('d', n, n, tile, tile, &C)); /* an intermediate result */

  /* C = A B = 2 everywhere, and D = A C = 4, which starts as soon as the first tiles of C are ready. */
  require(tessera_gemm_submit(TESSERA_NO_TRANS, TESSERA_NO_TRANS, &one, A, B, &zero, C));
  require(tessera_gemm_submit(TESSERA_NO_TRANS, TESSERA_NO_TRANS, &one, A, C, &zero, D));
  puts("two products submitted");
  require(tessera_matrix_wait(D));

  tessera_matrix_destroy(A), tessera_matrix_destroy(B), tessera_matrix_destroy(C), tessera_matrix_destroy(D);
  for (int i = 0; i < n * n; i++)
    if (fabs(d[i] - 4) > 1e-10) return puts("wrong result"), 1;
  puts("D is 4 everywhere, as it should be");
  return 0;
}
