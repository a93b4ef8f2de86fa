// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>

#include "support/call.hpp"
#include "support/routines.hpp"

/// Calls with operands. Elements that the routine may read are numbers. All others are NaN, each with its own mark, so
/// tests detect reads as well as writes.
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
void hide_unread(Structure structure, const Options& options, HostMatrix<T>& A) {
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) {
      const auto nan = marked_nan<T>(1 + i + j * A.m());
      if (!is_meant(structure, options, i, j)) A(i, j) = nan;
      else if constexpr (is_complex<T>)
        if (structure == Structure::Hermitian && i == j) A(i, j).imag(nan.imag());
    }
}

template <Scalar T>
void hide(HostMatrix<T>& A) {
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) A(i, j) = marked_nan<T>(1 + i + j * A.m());
}

/// Sets the factors of a call, and puts NaN into operands that it does not read because of them.
template <Scalar T>
void set_factors(Call<T>& call, T alpha, T beta) {
  call.alpha = alpha;
  call.beta = beta;
  if (alpha == T{}) hide(call.A), hide(call.B);
  const bool reads_output = call.routine->has("beta") ? beta != T{} : alpha != T{};
  if (!reads_output) hide(call.C);
}

template <Scalar T>
HostMatrix<T> matrix_of(Size size, Index padding) {
  return HostMatrix<T>(size.rows, size.columns, padding);
}

/// A call with operands that have not been filled. The seed selects leading dimensions.
template <Scalar T>
Call<T> unfilled_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed) {
  const auto padding = [&](std::uint64_t period) { return static_cast<Index>(seed % period); };
  return {&routine,
          options,
          size,
          T(1),
          T(0),
          matrix_of<T>(routine.size_a(options, size), padding(4)),
          matrix_of<T>(routine.size_b(options, size), padding(3)),
          matrix_of<T>(routine.size_c(options, size), padding(5))};
}

/// A call with random operands, alpha 1 and beta 1. Triangular matrices are well conditioned, since a solution is
/// judged by its residual: the diagonal is at least 1, and the other elements of each row and column sum up to less
/// than 3/4.
template <Scalar T>
Call<T> random_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed,
                    std::type_identity_t<T> alpha = T(1), std::type_identity_t<T> beta = T(1)) {
  auto call = unfilled_call(routine, options, size, seed);
  Random random(seed);
  for (auto* A : {&call.A, &call.B, &call.C}) random.fill(*A);
  if (routine.a == Structure::Triangular)
    for (Index j = 0; j < call.A.n(); j++)
      for (Index i = 0; i < call.A.m(); i++) {
        auto& a = call.A(i, j);
        a = i == j ? a + std::copysign(Real<T>(1), std::real(a)) : a / static_cast<Real<T>>(call.A.n());
      }
  hide_unread(routine.a, options, call.A);
  hide_unread(routine.c, options, call.C);
  set_factors(call, alpha, routine.has("beta") ? beta : T(0));
  return call;
}

/// A call with random operands, and factors that the seed selects.
template <Scalar T>
Call<T> random_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,
                                 std::uint64_t seed) {
  const auto alpha = alphas(routine), beta = betas(routine);
  return random_call(routine, options, size, seed, alpha[seed % alpha.size()], beta[seed / 7 % beta.size()]);
}

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

/// A call on integers: its result is exact, whatever the tiles.
template <Scalar T>
Call<T> integer_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed,
                     std::type_identity_t<T> alpha = T(-2), std::type_identity_t<T> beta = T(3), Index largest = 4) {
  auto call = unfilled_call(routine, options, size, seed);
  Random random(seed);
  for (auto* A : {&call.A, &call.B, &call.C}) random.fill_integers(*A, largest);
  if (routine.solves()) fill_exactly_invertible(call.A, random);
  hide_unread(routine.a, options, call.A);
  hide_unread(routine.c, options, call.C);
  set_factors(call, alpha, routine.has("beta") ? beta : T(0));
  return call;
}

/// The same with integer factors, which have both parts where the routine takes complex factors.
template <Scalar T>
Call<T> integer_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,
                                  std::uint64_t seed) {
  const auto factor = [](bool real, Real<T> re, Real<T> im) {
    if constexpr (is_complex<T>) return real ? T(re) : T(re, im);
    else return T(re);
  };
  return integer_call(routine, options, size, seed, factor(routine.real_alpha, -2, 1),
                      factor(routine.real_beta, 3, -1));
}

}  // namespace tessera::test
