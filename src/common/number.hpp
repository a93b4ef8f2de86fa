// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <concepts>

#include <tessera/types.hpp>

namespace tessera::common {

/// A scalar such as alpha or beta, for matrices of any of the four types. It represents all their values exactly.
struct Number {
  double real = 0, imaginary = 0;

  constexpr Number() = default;
  constexpr Number(double x) : real(x) {}
  template <std::same_as<bool> Flag>
  Number(Flag) = delete;
  template <Scalar T>
  constexpr Number(T x) : real(std::real(x)), imaginary(std::imag(x)) {}

  template <Scalar T>
  explicit constexpr operator T() const {
    if constexpr (is_complex<T>) return {static_cast<Real<T>>(real), static_cast<Real<T>>(imaginary)};
    else return static_cast<T>(real);
  }

  friend constexpr bool operator==(const Number&, const Number&) = default;
};

constexpr Number conjugated_if(bool conjugate, const Number& x) {
  Number result = x;
  if (conjugate) result.imaginary = -x.imaginary;
  return result;
}

}  // namespace tessera::common
