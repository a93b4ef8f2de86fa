// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include <tessera/types.hpp>

#include "common/of_type.hpp"

namespace tessera::tools {

using tessera::with_type;

/// Converts the scalar to `T`. The imaginary part is dropped for real types.
template <Scalar T>
T scalar_cast(std::complex<double> value) {
  if constexpr (is_complex<T>) return T(value);
  else return static_cast<T>(value.real());
}

}  // namespace tessera::tools
