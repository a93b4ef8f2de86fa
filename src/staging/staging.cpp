// SPDX-License-Identifier: BSD-3-Clause
#include "staging/staging.hpp"

#include <starpu.h>
#include <starpu_cuda.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "codelets/failure.hpp"
#include "partial_tile.hpp"
#include "staging/crew.hpp"

namespace tessera::detail::staging {

namespace {

Crew* crew = nullptr;  // not destroyed at the exit: in a forked child its threads do not exist

Tile panel_of(const starpu_matrix_interface& host, const starpu_matrix_interface& device, const Rectangle& panel) {
  return {reinterpret_cast<std::byte*>(host.ptr) + offset(host, panel),
          host.ld * host.elemsize,
          reinterpret_cast<std::byte*>(device.ptr) + offset(device, panel),
          device.ld * device.elemsize,
          static_cast<std::size_t>(panel.m) * host.elemsize,
          panel.n};
}

/// @param in  to the GPU
int copy(const void* host, const void* device, bool in, unsigned from, unsigned to, cudaStream_t stream) {
  const auto& h = *static_cast<const PartialTile*>(host);
  const auto& d = *static_cast<const PartialTile*>(device);
  const int gpu = starpu_memory_node_get_devid(in ? to : from);
  try {
    for_each_panel(h, [&](const Rectangle& panel) {
      crew->run({panel_of(h.matrix, d.matrix, panel), in, gpu, stream});
    });
  } catch (const std::exception& error) {
    codelets::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, h.bytes);
  return -EAGAIN;  // StarPU waits for what is in the stream
}

int to_gpu(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  return copy(source, target, true, from, to, stream);
}

int to_host(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  return copy(target, source, false, from, to, stream);
}

}  // namespace

const starpu_data_copy_methods* copy_methods() {
  static const auto methods = [] {
    auto staged = *partial_tile_ops().copy_methods;
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
