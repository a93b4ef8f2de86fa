// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

namespace tessera::mpi_bench {

/// Whether time is simulated. Matrices then have addresses, but no elements.
#ifdef STARPU_SIMGRID
constexpr bool simulated = true;
/// From now on, messages with tiles take time, but copy nothing.
void send_sizes_only();
/// Tells StarPU what it would detect on the real machine.
/// @pre StarPU runs
void tell_of_machine();
#else
constexpr bool simulated = false;
inline void send_sizes_only() {}
inline void tell_of_machine() {}
#endif

}  // namespace tessera::mpi_bench
