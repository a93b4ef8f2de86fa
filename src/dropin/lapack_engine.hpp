// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/lapack_call.hpp"

namespace tessera::dropin {

/// Computes a legal call on the devices.
/// @return  info
/// @throws ArgumentError if Tessera does not accept the call, for example if its operands overlap or a pivot is not a
///         valid row
Index compute(const blas::LapackCall& call);

}  // namespace tessera::dropin
