// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tessera {

/// Sizes, leading dimensions and indices, in elements. Always 64 bits wide.
using Index = std::int64_t;

/// What is done with an operand before it is used. The values are those of the Fortran BLAS.
enum class Op : char { NoTrans = 'N', Trans = 'T', ConjTrans = 'C' };

/// The four types of the BLAS: s, d, c, z.
template <typename T>
concept Scalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>>;

template <Scalar T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;

/// float for s and c, double for d and z.
template <Scalar T>
using Real = decltype(std::real(T{}));

/// Real floating-point operations in one multiplication and one addition of `T`, by the counting rule of LAPACK.
template <Scalar T>
inline constexpr double flops_per_multiply_add = is_complex<T> ? 8 : 2;

/// The letter that the BLAS puts before a routine's name.
template <Scalar T>
inline constexpr char type_letter = std::same_as<T, float>                 ? 's'
                                    : std::same_as<T, double>              ? 'd'
                                    : std::same_as<T, std::complex<float>> ? 'c'
                                                                           : 'z';

}  // namespace tessera
