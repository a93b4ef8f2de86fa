// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

/// Numbers of all four types in kernels.
namespace tessera::device::cuda {

namespace {

template <typename R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};

template <typename T>
struct NumberOf {
  using Type = T;
};
template <typename R>
struct NumberOf<std::complex<R>> {
  using Type = Complex<R>;
};
template <typename T>
using Number = typename NumberOf<T>::Type;

/// |Re| + |Im|, with infinity for NaN, so that NaN spreads.
template <typename R>
__device__ double magnitude(R x) {
  return x == x ? fabs(static_cast<double>(x)) : INFINITY;
}
template <typename R>
__device__ double magnitude(Complex<R> x) {
  return magnitude(fabs(x.re) + fabs(x.im));
}

template <typename R>
__device__ R real_part(R x) {
  return x;
}
template <typename R>
__device__ R real_part(Complex<R> x) {
  return x.re;
}

template <typename R>
__device__ bool is_nan(R x) {
  return x != x;
}
template <typename R>
__device__ bool is_nan(Complex<R> x) {
  return is_nan(x.re) || is_nan(x.im);
}

/// |Re| + |Im|, by which LAPACK chooses the pivot row. NaN becomes the pivot only if it is already in the pivot's row.
template <typename N>
__device__ double pivot_magnitude(N x, bool in_place) {
  return is_nan(x) && !in_place ? 0 : magnitude(x);
}

/// c − a b
template <typename R>
__device__ R minus_product(R c, R a, R b) {
  return c - a * b;
}
template <typename R>
__device__ Complex<R> minus_product(Complex<R> c, Complex<R> a, Complex<R> b) {
  return {c.re - a.re * b.re + a.im * b.im, c.im - a.re * b.im - a.im * b.re};
}

template <typename R>
__device__ R product(R a, R b) {
  return a * b;
}
template <typename R>
__device__ Complex<R> product(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <typename R>
__device__ R scaled(R x, double factor) {
  return x * static_cast<R>(factor);
}
template <typename R>
__device__ Complex<R> scaled(Complex<R> x, double factor) {
  return {scaled(x.re, factor), scaled(x.im, factor)};
}

template <typename R>
__device__ R inverse(R x) {
  return 1 / x;
}
/// 1 / x, by Smith's algorithm, which overflows only if the result does.
template <typename R>
__device__ Complex<R> inverse(Complex<R> x) {
  if (fabs(x.im) <= fabs(x.re)) {
    const R ratio = x.im / x.re, divisor = x.re + x.im * ratio;
    return {1 / divisor, -ratio / divisor};
  }
  const R ratio = x.re / x.im, divisor = x.re * ratio + x.im;
  return {ratio / divisor, -1 / divisor};
}

/// The power of two by which to multiply a number of this magnitude before inverting it, because the inverses of the
/// smallest numbers would overflow.
template <typename R>
__device__ double scale_for(double magnitude) {
  constexpr double small = sizeof(R) == sizeof(float) ? 0x1p-120 : 0x1p-1000;
  return magnitude < small ? (sizeof(R) == sizeof(float) ? 0x1p60 : 0x1p200) : 1;
}
template <typename N>
struct RealOf {
  using Type = N;
};
template <typename R>
struct RealOf<Complex<R>> {
  using Type = R;
};

/// Kernels with a thread block for each column start at most `most_column_blocks`, of `column_threads`.
constexpr int column_threads = 256, most_column_blocks = 1024;
inline int blocks_of_columns(int n) { return n < most_column_blocks ? n : most_column_blocks; }

/// The number of blocks that provide a thread for each of m rows.
inline int blocks_for(int m, int threads) { return (m + threads - 1) / threads; }

}  // namespace

}  // namespace tessera::device::cuda

// Applies a macro to each type.
#define FOR_EACH_TYPE(macro) macro(float) macro(double) macro(std::complex<float>) macro(std::complex<double>)
