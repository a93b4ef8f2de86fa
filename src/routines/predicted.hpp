// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

namespace tessera::machine {
struct Machine;
}

namespace tessera::routines {

/// The seconds that a call on pointers is predicted to take, according to a plan for similar sizes: calls whose sizes
/// change a little do not each need a rehearsal. If only a part of the call is planned, such as the factorization of a
/// solver, the other flops are taken to be as fast. 0: nothing is computed, or the time of the plan is not known.
/// @pre  the call is legal
/// @throws ArgumentError if a requested tile size does not fit
double predicted_seconds(const machine::Machine& machine, const blas::Call& call);
double predicted_seconds(const machine::Machine& machine, const blas::LapackCall& call);

}  // namespace tessera::routines
