// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include <starpu.h>
#include <starpu_cuda.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/overwrites.hpp"
#include "copier.hpp"
#include "corners.hpp"
#include "memory/partial_tile.hpp"
#include "packed_columns.hpp"
#include "thread_pool.hpp"

namespace tessera::detail::staging {

namespace {

// Not destroyed at exit: a forked child has neither the threads nor the GPUs.
ThreadPool<Copier>* pool = nullptr;
Corners* corners = nullptr;

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
  const auto largest = piece_bytes(host.bytes, pool->threads() + 1);
  const auto stage = [&](const Rectangle& part) { cut(part, element, largest, pieces); };
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
  pool = new ThreadPool<Copier>(useful_threads(pinned_memory, Copier::bytes, starpu_cuda_worker_get_count()));
  corners = new Corners;
}

void stop() {
  delete std::exchange(pool, nullptr);
  delete std::exchange(corners, nullptr);
}

}  // namespace tessera::detail::staging
