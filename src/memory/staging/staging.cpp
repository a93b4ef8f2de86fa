// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include <starpu.h>
#include <starpu_cuda.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/overwrites.hpp"
#include "copier.hpp"
#include "corners.hpp"
#include "memory/partial_tile.hpp"
#include "thread_pool.hpp"

namespace tessera::detail::staging {

namespace {

// Not destroyed at exit: a forked child has neither the threads nor the GPUs.
ThreadPool<Copier>* pool = nullptr;
Corners* corners = nullptr;

/// On a host with 16 cores, 8, 10 and 12 threads took 0.235, 0.231 and 0.228 s for dgemm of n = 16384; on another such
/// host, 15 were slower than 8. With the drop-in's copies of operands beside them, dgesv was fastest with 10.
std::size_t useful_threads() { return std::clamp<std::size_t>(std::thread::hardware_concurrency() * 5 / 8, 1, 12); }

/// Cuts a rectangle of a tile into ranges of columns that fit a staging buffer.
void cut(const Rectangle& rectangle, std::size_t element_size, std::vector<Rectangle>& pieces) {
  const auto& [i, j, m, n] = rectangle;
  const int columns = static_cast<int>(std::clamp<std::size_t>(
      buffer_bytes / (static_cast<std::size_t>(m) * element_size), 1, static_cast<std::size_t>(n)));
  for (int first = 0; first < n; first += columns) pieces.push_back({i, j + first, m, std::min(columns, n - first)});
}

/// Copies a tile between host memory and a GPU. From pinned memory, panels are copied directly. To pinned memory, only
/// their rectangles are: a kernel copies the corners, or they go through staging buffers if the GPU cannot write to
/// that memory. Pageable memory has staging buffers for all panels.
template <bool to_gpu, bool pinned>
int copy(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  const auto& s = *static_cast<const PartialTile*>(source);
  const auto& t = *static_cast<const PartialTile*>(target);
  const auto& host = to_gpu ? s : t;
  const auto element = host.matrix.elemsize;
  std::vector<Rectangle> pieces;
  const auto stage = [&](const Rectangle& part) { cut(part, element, pieces); };
  const auto direct = [&](const Rectangle& part) {
    const auto at = [&](const starpu_matrix_interface& tile) {
      return reinterpret_cast<std::byte*>(tile.ptr) + offset(tile, part.i, part.j);
    };
    if constexpr (!to_gpu)
      overwrites::before(at(t.matrix), reinterpret_cast<const std::byte*>(t.matrix.ptr) +
                                           offset(t.matrix, part.i + part.m, part.j + part.n - 1));
    starpu_cuda_copy2d_async_sync(at(s.matrix), from, at(t.matrix), to, static_cast<std::size_t>(part.m) * element,
                                  static_cast<std::size_t>(part.n), s.matrix.ld * element, t.matrix.ld * element,
                                  stream, to_gpu ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
  };
  const auto job = [&]() -> TileCopy {
    return {&host, to_gpu ? &t : &s, pieces, to_gpu, starpu_memory_node_get_devid(to_gpu ? to : from), stream};
  };
  try {
    if constexpr (pinned && !to_gpu) {
      std::vector<Rectangle> uncut;
      for_each_part(host, direct, [&](const Rectangle& corner) { uncut.push_back(corner); });
      if (!uncut.empty() && !corners->copy(host, s, uncut, starpu_memory_node_get_devid(from), stream)) {
        for (const auto& corner : uncut) stage(corner);
        pool->run(job());
      }
    } else if constexpr (pinned) {
      for_each_panel(host, direct);
    } else {
      for_each_panel(host, stage);
      if (!pieces.empty()) pool->run(job());
    }
  } catch (const std::exception& error) {
    codelets::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, s.bytes);
  return -EAGAIN;  // StarPU waits for the copies in the stream
}

template <bool pinned>
const starpu_data_copy_methods* methods_for() {
  static const auto methods = [] {
    auto staged = *partial_tile_ops().copy_methods;
    staged.ram_to_cuda_async = copy<true, pinned>;
    staged.cuda_to_ram_async = copy<false, pinned>;
    return staged;
  }();
  return &methods;
}

}  // namespace

const starpu_data_copy_methods* pinned_copies() { return methods_for<true>(); }
const starpu_data_copy_methods* pageable_copies() { return methods_for<false>(); }

void start(std::size_t pinned_memory) {
  const auto copiers = pinned_memory == 0 ? std::numeric_limits<std::size_t>::max() : pinned_memory / Copier::bytes;
  const auto threads = copiers - std::min<std::size_t>(copiers, starpu_cuda_worker_get_count());
  pool = new ThreadPool<Copier>(std::min(threads, useful_threads()));
  corners = new Corners;
}

void stop() {
  delete std::exchange(pool, nullptr);
  delete std::exchange(corners, nullptr);
}

}  // namespace tessera::detail::staging
