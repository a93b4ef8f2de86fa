// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::bench {

/// The value at `index` of operand 0 (A), 1 (B) or 2 (C), in (-0.5, 0.5). For complex types, `index` counts real and
/// imaginary parts. The value depends only on the arguments, so any thread can fill any part, and a check recomputes
/// the old C instead of keeping a copy.
///
/// Well-conditioned matrices of order n, for trmm, trsm and factorizations, have these values divided by √n off the
/// diagonal, and increased by 3/2 on the diagonal. The diagonal then has magnitude 1 to 2, and the rest of a triangle
/// has norm 0.7 or less for any n. A call thus changes the length of a column by a factor between 1/3 and 3. A
/// Hermitian matrix with such a triangle is positive definite: its part off the diagonal has norm at most 0.6 (real) or
/// 0.8 (complex). Without the division, the condition number of random triangular matrices grows as 2ⁿ. After a
/// division by n, the elements off the diagonal would be too small to reveal errors.
inline double generated(std::uint64_t seed, int operand, Index index) {
  std::uint64_t z = (seed * 4 + static_cast<std::uint64_t>(operand)) * 0xD1B54A32D192ED03U;
  z += (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15U;  // the rest is splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53 - 0.5;
}

/// Element `index` of an operand of type T.
template <Scalar T>
T generated_element(std::uint64_t seed, int operand, Index index) {
  using R = Real<T>;
  if constexpr (is_complex<T>)
    return {static_cast<R>(generated(seed, operand, 2 * index)),
            static_cast<R>(generated(seed, operand, 2 * index + 1))};
  else return static_cast<R>(generated(seed, operand, index));
}

/// Element (i, j), at `index`, of a well-conditioned matrix of order n.
template <Scalar T>
T well_conditioned_element(std::uint64_t seed, int operand, Index index, Index i, Index j, Index n) {
  const auto x = generated_element<T>(seed, operand, index);
  return i == j ? x + T(1.5) : x * static_cast<Real<T>>(1 / std::sqrt(static_cast<double>(n)));
}

}  // namespace tessera::bench
