// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hpl/random_system.hpp"

namespace tessera::hpl {

/// HPL's scaled residual of a solution x (n numbers): ‖A x − b‖ / (u (‖A‖ ‖x‖ + ‖b‖) n) with maximum norms and u =
/// 2^-53. NaN if x contains NaN. All cores regenerate A in blocks of rows, so this takes 2n² flops, and memory for a
/// few vectors.
double scaled_residual(const RandomSystem& system, const double* x);

}  // namespace tessera::hpl
