// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <utility>

#include <tessera/types.hpp>

namespace tessera::common {

/// Selects the function for T from the functions for s, d, c and z, or for c and z.
template <Scalar T, typename S, typename D, typename C, typename Z>
constexpr auto of_type(S s, D d, C c, Z z) {
  if constexpr (std::same_as<T, float>) return s;
  else if constexpr (std::same_as<T, double>) return d;
  else if constexpr (std::same_as<T, std::complex<float>>) return c;
  else return z;
}
template <ComplexScalar T, typename C, typename Z>
constexpr auto of_type(C c, Z z) {
  if constexpr (std::same_as<T, std::complex<float>>) return c;
  else return z;
}

/// Calls function(T{}) with the scalar type of the letter s, d, c or z.
template <typename Function>
decltype(auto) with_type(char letter, Function&& function) {
  switch (letter) {
  case 's': return std::forward<Function>(function)(float{});
  case 'c': return std::forward<Function>(function)(std::complex<float>{});
  case 'z': return std::forward<Function>(function)(std::complex<double>{});
  default: return std::forward<Function>(function)(double{});
  }
}
/// Calls function(T{}) with the complex type of the letter c or z. Ends the program for other letters.
template <typename Function>
decltype(auto) with_complex_type(char letter, Function&& function) {
  if (letter == 'c') return std::forward<Function>(function)(std::complex<float>{});
  if (letter != 'z') std::abort();
  return std::forward<Function>(function)(std::complex<double>{});
}

// Properties of the type of a letter.
inline std::size_t size_of(char letter) {
  return with_type(letter, []<Scalar T>(T) { return sizeof(T); });
}
inline bool is_complex_type(char letter) {
  return with_type(letter, []<Scalar T>(T) { return is_complex<T>; });
}
/// See flops_per_multiply_add.
inline double flops_of_multiply_add(char letter) {
  return with_type(letter, []<Scalar T>(T) { return flops_per_multiply_add<T>; });
}

}  // namespace tessera::common
