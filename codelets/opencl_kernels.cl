// SPDX-License-Identifier: BSD-3-Clause
// What tile operations need besides CLBlast. opencl_kernels.cpp compiles this for each type, with these macros:
//   REAL     float or double
//   COMPLEX  defined for complex types
//   DOUBLE   defined for double precision
// A work item is one element (i, j) of a tile. `part` is 0 for all of the tile, 1 for its lower and 2 for its upper
// triangle; the diagonal enters the tile in row `first`.
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef COMPLEX
typedef struct {
  REAL re, im;
} Number;

Number times(Number a, Number b) {
  const Number c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return c;
}
Number plus(Number a, Number b) {
  const Number c = {a.re + b.re, a.im + b.im};
  return c;
}
Number real_part(Number a) {
  const Number c = {a.re, 0};
  return c;
}
#else
typedef REAL Number;
Number times(Number a, Number b) { return a * b; }
Number plus(Number a, Number b) { return a + b; }
Number real_part(Number a) { return a; }
#endif

// β as it is passed: its real and its imaginary part, and whether it is exactly 0 or 1. Real factors scale both parts of
// a complex number separately, as the BLAS does: a product with an imaginary part of 0 would make NaN of infinity.
Number scaled(Number x, REAL re, REAL im) {
#ifdef COMPLEX
  if (im == 0) {
    const Number c = {re * x.re, re * x.im};
    return c;
  }
  const Number beta = {re, im};
  return times(beta, x);
#else
  return re * x;
#endif
}

int in_part(int part, int first, int i, int j) {
  return part == 0 || (part == 1 ? i >= first + j : i <= first + j);
}

// C ← β C in a part of C. With β = 0, C is not read. `real_diagonal`: the imaginary part of the diagonal is and stays 0.
__kernel void scale(int m, int n, int part, int first, int real_diagonal, REAL re, REAL im, __global Number* C,
                    ulong offset, int ld) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= m || j >= n || !in_part(part, first, i, j)) return;
  __global Number* const c = C + offset + i + (ulong)j * (ulong)ld;
  const int is_real = real_diagonal && i == first + j;
  Number x;
  if (re == 0 && im == 0) {
#ifdef COMPLEX
    x.re = 0;
    x.im = 0;
#else
    x = 0;
#endif
  } else {
    x = scaled(is_real ? real_part(*c) : *c, re, im);
  }
  *c = is_real ? real_part(x) : x;
}

// C ← D + β C in a part of C. With β = 0, C is not read.
__kernel void add(int m, int n, int part, int first, int real_diagonal, REAL re, REAL im, const __global Number* D,
                  ulong offset_d, int ldd, __global Number* C, ulong offset, int ld) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= m || j >= n || !in_part(part, first, i, j)) return;
  __global Number* const c = C + offset + i + (ulong)j * (ulong)ld;
  const Number d = D[offset_d + i + (ulong)j * (ulong)ldd];
  const int is_real = real_diagonal && i == first + j;
  Number x = d;
  if (re != 0 || im != 0) x = plus(d, scaled(is_real ? real_part(*c) : *c, re, im));
  *c = is_real ? real_part(x) : x;
}

// The diagonal of C ← its real part.
__kernel void real_diagonal(int n, __global Number* C, ulong offset, int ld) {
  const int j = get_global_id(0);
  if (j >= n) return;
  __global Number* const c = C + offset + j + (ulong)j * (ulong)ld;
  *c = real_part(*c);
}
