/* SPDX-License-Identifier: BSD-3-Clause */
/* The drop-in for Julia. libblastrampoline forwards to a library only if it finds isamax, sdot and zdotc there: their
 * results tell it the width of integers and how functions return values. With 64-bit integers, these are here. With 32
 * bits they are OpenBLAS's, which this library links after libtessera_blas.so. */
#include <cblas.h>
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

static int fits(int64_t size) { return size >= INT_MIN && size <= INT_MAX; }

/* Where the first element of a vector is: at the end of its memory if the increment is negative. */
static int64_t begin(int64_t n, int64_t increment) { return increment < 0 ? (1 - n) * increment : 0; }

EXPORTED int64_t isamax_64_(const int64_t* n, const float* x, const int64_t* incx) {
  if (*n < 1 || *incx < 1) return 0;
  if (fits(*n) && fits(*incx)) return (int64_t)cblas_isamax((int)*n, x, (int)*incx) + 1;
  int64_t best = 0;
  for (int64_t i = 1; i < *n; i++)
    if (fabsf(x[i * *incx]) > fabsf(x[best * *incx])) best = i;
  return best + 1;
}

EXPORTED float sdot_64_(const int64_t* n, const float* x, const int64_t* incx, const float* y, const int64_t* incy) {
  if (fits(*n) && fits(*incx) && fits(*incy)) return cblas_sdot((int)*n, x, (int)*incx, y, (int)*incy);
  double sum = 0;
  x += begin(*n, *incx), y += begin(*n, *incy);
  for (int64_t i = 0; i < *n; i++) sum += (double)x[i * *incx] * y[i * *incy];
  return (float)sum;
}

EXPORTED double complex zdotc_64_(const int64_t* n, const double complex* x, const int64_t* incx,
                                  const double complex* y, const int64_t* incy) {
  double complex sum = 0;
  if (fits(*n) && fits(*incx) && fits(*incy)) {
    cblas_zdotc_sub((int)*n, x, (int)*incx, y, (int)*incy, &sum);
    return sum;
  }
  x += begin(*n, *incx), y += begin(*n, *incy);
  for (int64_t i = 0; i < *n; i++) sum += conj(x[i * *incx]) * y[i * *incy];
  return sum;
}
