// SPDX-License-Identifier: BSD-3-Clause
// The kernels that tile operations need in addition to CLBlast. kernels.cpp compiles them for each type, with
// these macros:
//   REAL     float or double
//   COMPLEX  defined for complex types
//   DOUBLE   defined for double precision
//   ORDER    the largest triangle of apply_triangle
//   COLUMNS  the number of columns that a group of apply_triangle computes
// Unless documented otherwise, a work item handles one element (i, j) of a tile. `part` is 0 for the whole tile, 1 for
// its lower and 2 for its upper triangle; the diagonal begins in row `first` of the tile.
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef COMPLEX
typedef struct {
  REAL re, im;
} Number;
#define ZERO \
  { 0, 0 }

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
Number negative(Number a) {
  const Number c = {-a.re, -a.im};
  return c;
}
Number conjugate(Number a) {
  const Number c = {a.re, -a.im};
  return c;
}
// c + a b
Number plus_product(Number c, Number a, Number b) {
  c.re = fma(a.re, b.re, fma(-a.im, b.im, c.re));
  c.im = fma(a.re, b.im, fma(a.im, b.re, c.im));
  return c;
}
// 1 / a, by Smith's method, which avoids squares that overflow.
Number reciprocal(Number a) {
  const int wide = fabs(a.re) >= fabs(a.im);
  const REAL ratio = wide ? a.im / a.re : a.re / a.im;
  const REAL size = wide ? a.re + a.im * ratio : a.re * ratio + a.im;
  const Number wide_one = {1 / size, -ratio / size}, high_one = {ratio / size, -1 / size};
  return wide ? wide_one : high_one;
}
#else
typedef REAL Number;
#define ZERO 0

Number times(Number a, Number b) { return a * b; }
Number plus(Number a, Number b) { return a + b; }
Number real_part(Number a) { return a; }
Number negative(Number a) { return -a; }
Number conjugate(Number a) { return a; }
Number plus_product(Number c, Number a, Number b) { return fma(a, b, c); }
Number reciprocal(Number a) { return 1 / a; }
#endif

// β x, with β passed as its real and imaginary parts. A real β scales both parts of a complex number separately, as in
// the BLAS: multiplying by an imaginary part of 0 would turn infinity into NaN.
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

int in_part(int part, int first, int i, int j) { return part == 0 || (part == 1 ? i >= first + j : i <= first + j); }

// C ← β C in a part of C. With β = 0, C is not read. With `real_diagonal`, the imaginary part of the diagonal counts as
// 0, and is set to 0.
__kernel void scale(int m, int n, int part, int first, int real_diagonal, REAL re, REAL im, __global Number* C,
                    ulong offset, int ld) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= m || j >= n || !in_part(part, first, i, j)) return;
  __global Number* const c = C + offset + i + (ulong)j * (ulong)ld;
  const int is_real = real_diagonal && i == first + j;
  Number x = ZERO;
  if (re != 0 || im != 0) x = scaled(is_real ? real_part(*c) : *c, re, im);
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

// Rows of a tile of B, which has the rows [begin, begin + m), to or from W: for each move, row rows[move] ↔ row `move` of
// W. `moves` contains the number of moves and the rows, at these elements. A work item handles a move and a column.
__kernel void move_rows(int to_tile, const __global int* moves, ulong count_at, ulong rows_at, int begin, int m, int n,
                        __global Number* W, int ldw, __global Number* B, ulong offset, int ld) {
  const int move = get_global_id(0), j = get_global_id(1);
  if (j >= n || move >= moves[count_at]) return;
  const int row = moves[rows_at + move] - begin;
  if (row < 0 || row >= m) return;
  __global Number* const b = B + offset + row + (ulong)j * (ulong)ld;
  __global Number* const w = W + move + (ulong)j * (ulong)ldw;
  if (to_tile) *b = *w;
  else *w = *b;
}

// The diagonal of C ← its real part.
__kernel void real_diagonal(int n, __global Number* C, ulong offset, int ld) {
  const int j = get_global_id(0);
  if (j >= n) return;
  __global Number* const c = C + offset + j + (ulong)j * (ulong)ld;
  *c = real_part(*c);
}

// X ← α T X, or X ← α T⁻¹ X if `solve`, for a triangle T of order n ≤ ORDER. T and X have strides for rows and columns,
// so either may be a transpose. With `forward`, row i of T X needs the rows of X up to i; otherwise it needs the rows
// from i on.
// A group computes some columns of X, and each of its work items computes one row of them. The rows are completed one
// after another: the work item of a row publishes it, and the work items of all rows that need it add their products.
__kernel __attribute__((reqd_work_group_size(ORDER, 1, 1))) void apply_triangle(
    int solve, int forward, int unit, int conjugated, int n, int count, REAL re, REAL im, const __global Number* T,
    ulong offset_t, ulong row_t, ulong column_t, __global Number* X, ulong offset_x, ulong row_x, ulong column_x) {
  __local Number known[2][COLUMNS];  // two, since slow items may still read the row before
  const int p = get_local_id(0), row = forward ? p : n - 1 - p, first = get_group_id(0) * COLUMNS;
  const int mine = p < n, columns = mine ? min(COLUMNS, count - first) : 0;
  T += offset_t + (mine ? (ulong)row * row_t : 0);
  X += offset_x + (mine ? (ulong)row * row_x + (ulong)first * column_x : 0);

  Number diagonal = ZERO;
  if (mine && !unit) {
    diagonal = T[(ulong)row * column_t];
    if (conjugated) diagonal = conjugate(diagonal);
    if (solve) diagonal = reciprocal(diagonal);
  }
  Number x[COLUMNS], sum[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) {
    const Number zero = ZERO;
    x[c] = c < columns ? scaled(X[(ulong)c * column_x], re, im) : zero;
    sum[c] = solve || unit ? x[c] : times(diagonal, x[c]);
  }
  for (int k = 0; k < n; k++) {
    const int needs = mine && p > k;
    Number t = ZERO;
    if (needs) {  // loaded while row k is published
      t = T[(ulong)(forward ? k : n - 1 - k) * column_t];
      if (conjugated) t = conjugate(t);
      if (solve) t = negative(t);
    }
    if (p == k)
      for (int c = 0; c < COLUMNS; c++) {
        if (solve && !unit) sum[c] = times(diagonal, sum[c]);
        known[k & 1][c] = solve ? sum[c] : x[c];
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (needs)
      for (int c = 0; c < COLUMNS; c++) sum[c] = plus_product(sum[c], t, known[k & 1][c]);
  }
  for (int c = 0; c < columns; c++) X[(ulong)c * column_x] = sum[c];
}
