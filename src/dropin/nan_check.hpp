// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/lapack_call.hpp"

namespace tessera::dropin {

/// Whether the high-level functions of LAPACKE check their operands for NaN, according to the program's LAPACKE
/// (LAPACKE_set_nancheck), or else the environment variable LAPACKE_NANCHECK. The default is yes.
bool checks_nan();

/// "A", "B" or "tau" if the part of it that the routine reads contains NaN, else null. Several threads read large
/// operands.
const char* operand_with_nan(const blas::LapackCall& call);

}  // namespace tessera::dropin
