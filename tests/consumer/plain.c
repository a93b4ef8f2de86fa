/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls a BLAS, and links the drop-in instead. */
#include <stdlib.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

int main(void) {
  const int n = 2;
  const double one = 1, zero = 0, A[] = {1, 2, 3, 4}, B[] = {5, 6, 7, 8};
  double C[4] = {0};
  dgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
  return C[0] == 23 && C[1] == 34 && C[2] == 31 && C[3] == 46 ? EXIT_SUCCESS : EXIT_FAILURE;
}
