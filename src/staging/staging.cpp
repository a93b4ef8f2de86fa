// SPDX-License-Identifier: BSD-3-Clause
#include "staging/staging.hpp"

#include <starpu.h>
#include <starpu_cuda.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "codelets/failure.hpp"
#include "staging/crew.hpp"

namespace tessera::detail::staging {

namespace {

Crew* crew = nullptr;  // not destroyed at the exit: in a forked child its threads do not exist

Tile tile_of(const void* host, const void* device) {
  const auto& h = *static_cast<const starpu_matrix_interface*>(host);
  const auto& d = *static_cast<const starpu_matrix_interface*>(device);
  return {reinterpret_cast<std::byte*>(h.ptr),
          h.ld * h.elemsize,
          reinterpret_cast<std::byte*>(d.ptr),
          d.ld * d.elemsize,
          h.nx * h.elemsize,
          static_cast<int>(h.ny)};
}

int copy(unsigned from, unsigned to, const Job& job) {
  try {
    crew->run(job);
  } catch (const std::exception& error) {
    codelets::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, job.tile.height * static_cast<std::size_t>(job.tile.columns));
  return -EAGAIN;  // StarPU waits for what is in the stream
}

int to_gpu(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  return copy(from, to, {tile_of(source, target), true, starpu_memory_node_get_devid(to), stream});
}

int to_host(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  return copy(from, to, {tile_of(target, source), false, starpu_memory_node_get_devid(from), stream});
}

}  // namespace

const starpu_data_copy_methods* copy_methods() {
  static const auto methods = [] {
    auto staged = *starpu_interface_matrix_ops.copy_methods;
    staged.ram_to_cuda_async = to_gpu;
    staged.cuda_to_ram_async = to_host;
    return staged;
  }();
  return &methods;
}

void start(std::size_t pinned_memory) {
  const auto all = pinned_memory == 0 ? std::numeric_limits<std::size_t>::max() : pinned_memory / Hands::bytes;
  crew = new Crew(all - std::min<std::size_t>(all, starpu_cuda_worker_get_count()));
}

void stop() { delete std::exchange(crew, nullptr); }

}  // namespace tessera::detail::staging
