// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::mpi_bench {

/// Whether time is simulated. In simulated time, matrices have addresses, but no elements.
#ifdef STARPU_SIMGRID
constexpr bool simulated = true;
/// Makes messages with tiles take time without copying anything.
void send_sizes_only();
/// Tells StarPU about hardware that it would detect on a real machine.
/// @pre StarPU runs
void tell_of_machine();
#else
constexpr bool simulated = false;
inline void send_sizes_only() {}
inline void tell_of_machine() {}
#endif

}  // namespace tessera::mpi_bench
