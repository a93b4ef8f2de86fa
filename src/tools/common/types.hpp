// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <utility>

#include <tessera/types.hpp>

namespace tessera::tools {

/// Calls function(T{}) with the scalar type that the letter s, d, c or z stands for.
template <typename Function>
decltype(auto) with_type(char letter, Function&& function) {
  switch (letter) {
  case 's': return std::forward<Function>(function)(float{});
  case 'c': return std::forward<Function>(function)(std::complex<float>{});
  case 'z': return std::forward<Function>(function)(std::complex<double>{});
  default: return std::forward<Function>(function)(double{});
  }
}

/// The scalar as `T`; the imaginary part is dropped for real types.
template <Scalar T>
T scalar_cast(std::complex<double> value) {
  if constexpr (is_complex<T>) return T(value);
  else return static_cast<T>(value.real());
}

}  // namespace tessera::tools
