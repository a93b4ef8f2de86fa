// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifndef __cpp_concepts
#error "Tessera's C++ headers need C++20: compile with -std=c++20"
#endif

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

/// @file
/// Sizes, options and scalar types.

namespace tessera {

/// Sizes, leading dimensions and indices, in elements. Always 64 bits wide.
using Index = std::int64_t;

/// How an operand is used: as it is stored, transposed, or conjugate-transposed. The values are the Fortran BLAS's.
enum class Op : char { NoTrans = 'N', Trans = 'T', ConjTrans = 'C' };

/// Which triangle of a matrix is used, diagonal included. The other triangle is neither read nor written.
enum class Uplo : char { Lower = 'L', Upper = 'U' };

/// Whether the symmetric or triangular matrix A is the left or the right factor of the product.
enum class Side : char { Left = 'L', Right = 'R' };

/// Whether the diagonal of a triangular matrix is read, or assumed to be all ones.
enum class Diag : char { NonUnit = 'N', Unit = 'U' };

/// Which elements of a matrix are neighbours in memory: the elements of a column, as in Fortran, or of a row.
enum class Layout : char { ColMajor = 'C', RowMajor = 'R' };

/// The four types of the BLAS: s, d, c, z.
template <typename T>
concept Scalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>>;

/// True for c and z.
template <Scalar T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;

/// c and z, the types of the Hermitian routines.
template <typename T>
concept ComplexScalar = Scalar<T> && is_complex<T>;

/// float for s and c, double for d and z.
template <Scalar T>
using Real = decltype(std::real(T{}));

/// Real floating-point operations in one multiplication and one addition of `T`, by the counting rule of LAPACK.
template <Scalar T>
inline constexpr double flops_per_multiply_add = is_complex<T> ? 8 : 2;

/// The first letter of a routine's name in the BLAS: s, d, c or z.
template <Scalar T>
inline constexpr char type_letter = std::same_as<T, float>                 ? 's'
                                    : std::same_as<T, double>              ? 'd'
                                    : std::same_as<T, std::complex<float>> ? 'c'
                                                                           : 'z';

}  // namespace tessera
