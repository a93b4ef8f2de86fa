// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

namespace tessera::test {

/// The larger number, or NaN if one of them is NaN, which std::max may lose.
template <typename Real>
Real larger(Real x, std::type_identity_t<Real> y) {
  return std::isnan(x) || y <= x ? x : y;
}

}  // namespace tessera::test
