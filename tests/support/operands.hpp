// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>

#include "support/call.hpp"
#include "support/routines.hpp"

/// Calls with operands. Elements that the routine may read are numbers. All others are NaN with different marks, so
/// tests detect reads and writes.
namespace tessera::test {

/// A signalling NaN with `mark`, not zero, in its payload. Copies keep it; arithmetic turns it into a quiet NaN.
template <Scalar T>
T marked_nan(Index mark) {
  if constexpr (is_complex<T>) {
    return {marked_nan<Real<T>>(2 * mark), marked_nan<Real<T>>(2 * mark + 1)};
  } else if constexpr (std::same_as<T, float>) {
    return std::bit_cast<float>(0x7f800000U | (static_cast<std::uint32_t>(mark) & 0x3fffffU));
  } else {
    return std::bit_cast<double>(0x7ff0000000000000U | static_cast<std::uint64_t>(mark));
  }
}

/// Puts NaN where no routine may read: elements outside the triangle, and imaginary parts of a Hermitian diagonal.
template <Scalar T>
void hide_unread(Structure structure, const Options& options, HostMatrix<T>& A);

template <Scalar T>
void hide(HostMatrix<T>& A);

/// Sets the factors of a call, and fills operands with NaN that it does not read because of them.
template <Scalar T>
void set_factors(Call<T>& call, T alpha, T beta);

template <Scalar T>
HostMatrix<T> matrix_of(Size size, Index padding) {
  return HostMatrix<T>(size.rows, size.columns, padding);
}

/// A call with operands that have not been filled. The seed selects leading dimensions.
template <Scalar T>
Call<T> unfilled_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed);

/// A call with random operands, alpha 1 and beta 1. Triangular matrices are well conditioned, because solutions are
/// judged by their residual: the diagonal is at least 1, and the other elements of each row and column sum up to less
/// than 3/4.
template <Scalar T>
Call<T> random_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed,
                    std::type_identity_t<T> alpha = T(1), std::type_identity_t<T> beta = T(1));

/// A call with random operands, and factors that the seed selects.
template <Scalar T>
Call<T> random_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,
                                 std::uint64_t seed);

/// Fills a triangular matrix D + N with integers such that its inverse is exact. The diagonal D is ±1 or ±2. N leads
/// from one of three classes of indices to a higher one, so N³ = 0 and (D + N)⁻¹ is a sum of three exact terms. Long
/// rows are sparse, so that all terms stay small.
template <Scalar T>
void fill_exactly_invertible(HostMatrix<T>& A, Random& random) {
  const auto part = [&] { return static_cast<Real<T>>(random.integer(-2, 2)); };
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) {
      A(i, j) = T{};
      if (i == j) A(i, j) = T(static_cast<Real<T>>(random.integer(1, 2) * (random.coin() ? 1 : -1)));
      else if (i % 3 > j % 3 && random.integer(0, A.n()) < 24) {
        A(i, j) = T(part());
        if constexpr (is_complex<T>) A(i, j).imag(part());
      }
    }
}

/// A call on integers, whose result is exact for any tiles.
template <Scalar T>
Call<T> integer_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed,
                     std::type_identity_t<T> alpha = T(-2), std::type_identity_t<T> beta = T(3), Index largest = 4);

/// A call on integers with integer factors, which have both parts if the routine takes complex factors.
template <Scalar T>
Call<T> integer_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,
                                  std::uint64_t seed);

}  // namespace tessera::test
