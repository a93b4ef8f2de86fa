// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/lapack_call.hpp"

namespace tessera::dropin {

/// Whether the high-level functions of LAPACKE look for NaN in their operands: what the program's LAPACKE says
/// (LAPACKE_set_nancheck), else the environment variable LAPACKE_NANCHECK, else yes.
bool checks_nan();

/// "A", "B" or "tau" if the part of it that the routine reads contains NaN, else null. Several threads read large
/// operands.
const char* operand_with_nan(const blas::LapackCall& call);

}  // namespace tessera::dropin
