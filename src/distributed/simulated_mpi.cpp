// SPDX-License-Identifier: BSD-3-Clause
// Collective MPI calls in simulated time. Only the simulated thread in which StarPU polls belongs to SimGrid's MPI, so
// other threads send through StarPU. The linker replaces MPI's functions by the functions in this file.
#include <mpi.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int first_tag = 1 << 30;  // tags of tiles are counted from 0

void exchange(void* data, std::size_t bytes, int from, int to) {
  starpu_data_handle_t handle = nullptr;
  starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(data), bytes);
  const int mine = starpu_mpi_world_rank();
  if (mine == from) starpu_mpi_send(handle, to, first_tag + from, MPI_COMM_WORLD);
  if (mine == to) starpu_mpi_recv(handle, from, first_tag + from, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  starpu_data_unregister(handle);
}

template <typename T>
void add(std::vector<T>& sum, const std::vector<T>& values, MPI_Op how) {
  for (std::size_t i = 0; i < sum.size(); i++) {
    if (how == MPI_SUM) sum[i] += values[i];
    else if (how == MPI_MAX) sum[i] = std::max(sum[i], values[i]);
    else if (how == MPI_MIN) sum[i] = std::min(sum[i], values[i]);
    else std::abort();
  }
}

template <typename T>
int all_reduce(const void* mine, void* all, int count, MPI_Op how) {
  std::vector<T> sum(static_cast<std::size_t>(count)), values(sum.size());
  const std::size_t bytes = sum.size() * sizeof(T);
  std::memcpy(sum.data(), mine, bytes);
  const int rank = starpu_mpi_world_rank(), size = starpu_mpi_world_size();
  for (int other = 1; other < size; other++) {
    if (rank == other) exchange(sum.data(), bytes, other, 0);
    if (rank != 0) continue;
    exchange(values.data(), bytes, other, 0);
    add(sum, values, how);
  }
  for (int other = 1; other < size; other++)
    if (rank == 0 || rank == other) exchange(sum.data(), bytes, 0, other);
  std::memcpy(all, sum.data(), bytes);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" int __wrap_MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op how,
                                    MPI_Comm /*comm*/) {
  if (type == MPI_INT) return all_reduce<int>(mine, all, count, how);
  if (type == MPI_DOUBLE) return all_reduce<double>(mine, all, count, how);
  if (type == MPI_INT64_T) return all_reduce<std::int64_t>(mine, all, count, how);
  if (type == MPI_UINT64_T) return all_reduce<std::uint64_t>(mine, all, count, how);
  std::abort();
}
