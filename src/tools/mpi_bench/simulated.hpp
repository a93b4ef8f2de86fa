// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::mpi_bench {

/// Whether time is simulated. Then matrices have addresses, but no elements.
#ifdef STARPU_SIMGRID
constexpr bool simulated = true;
/// From now on, messages of tiles take their time, but copy nothing.
void send_sizes_only();
/// Tells StarPU what it would find out on the described machine.
/// @pre StarPU runs
void tell_of_machine();
#else
constexpr bool simulated = false;
inline void send_sizes_only() {}
inline void tell_of_machine() {}
#endif

}  // namespace tessera::mpi_bench
