// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/lapack_call.hpp"

namespace tessera::dropin {

/// Computes a legal call on the devices.
/// @return  info
/// @throws ArgumentError if Tessera does not take the call, as its operands overlap or its pivots name no rows
Index compute(const blas::LapackCall& call);

}  // namespace tessera::dropin
