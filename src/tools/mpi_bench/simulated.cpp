// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_bench/simulated.hpp"

#include <mpi.h>
#include <smpi/smpi.h>

#include <cstddef>

#include "simulate/task_watch.hpp"

namespace tessera::mpi_bench {

namespace {

/// Larger than all messages that are not tiles: sums over processes, and StarPU's headers of its messages.
constexpr std::size_t largest_read = 4096;

void copy_small(simgrid::kernel::activity::ActivityImpl* message, void* data, std::size_t bytes) {
  if (bytes > largest_read) return;
  // SimGrid passes a message to the callback as a pointer to its base class.
  smpi_comm_copy_buffer_callback(reinterpret_cast<simgrid::kernel::activity::CommImpl*>(message), data, bytes);
}

}  // namespace

void send_sizes_only() { smpi_comm_set_copy_data_callback(copy_small); }

void tell_of_machine() { simulate::tell_of_nvlink(device::simulated::described_machine()); }

}  // namespace tessera::mpi_bench

// The linker redirects StarPU's call to this function, because MPI would gather the rows of a tile in a buffer, but a
// simulated tile has no memory.
extern "C" int __wrap_MPI_Type_vector(int count, int block, int /*stride*/, MPI_Datatype element, MPI_Datatype* type) {
  return MPI_Type_contiguous(count * block, element, type);
}
