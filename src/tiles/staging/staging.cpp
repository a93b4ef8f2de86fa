// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include <starpu.h>
#include <starpu_cuda.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "crew.hpp"
#include "tiles/partial_tile.hpp"

namespace tessera::detail::staging {

namespace {

Crew* crew = nullptr;  // not destroyed at the exit: in a forked child its threads do not exist

/// Cuts a rectangle of a tile into columns that fit a buffer.
void cut(const Rectangle& rectangle, std::size_t element_size, std::vector<Rectangle>& pieces) {
  const auto& [i, j, m, n] = rectangle;
  const int columns = static_cast<int>(std::clamp<std::size_t>(
      buffer_bytes / (static_cast<std::size_t>(m) * element_size), 1, static_cast<std::size_t>(n)));
  for (int first = 0; first < n; first += columns) pieces.push_back({i, j + first, m, std::min(columns, n - first)});
}

/// @param in      to the GPU
/// @param pinned  the memory of the host: only what must not be copied as a rectangle goes through the buffers
template <bool in, bool pinned>
int copy(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  const auto& s = *static_cast<const PartialTile*>(source);
  const auto& t = *static_cast<const PartialTile*>(target);
  const auto& host = in ? s : t;
  const auto element = host.matrix.elemsize;
  std::vector<Rectangle> pieces;
  const auto stage = [&](const Rectangle& part) { cut(part, element, pieces); };
  const auto direct = [&](const Rectangle& part) {
    const auto at = [&](const starpu_matrix_interface& tile) {
      return reinterpret_cast<std::byte*>(tile.ptr) + offset(tile, part.i, part.j);
    };
    starpu_cuda_copy2d_async_sync(at(s.matrix), from, at(t.matrix), to, static_cast<std::size_t>(part.m) * element,
                                  static_cast<std::size_t>(part.n), s.matrix.ld * element, t.matrix.ld * element,
                                  stream, in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
  };
  if constexpr (pinned) for_each_part(host, direct, stage);
  else for_each_panel(host, stage);
  try {
    if (!pieces.empty())
      crew->run({&host, in ? &t : &s, pieces, in, starpu_memory_node_get_devid(in ? to : from), stream});
  } catch (const std::exception& error) {
    codelets::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, s.bytes);
  return -EAGAIN;  // StarPU waits for what is in the stream
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
  const auto all = pinned_memory == 0 ? std::numeric_limits<std::size_t>::max() : pinned_memory / Hands::bytes;
  crew = new Crew(all - std::min<std::size_t>(all, starpu_cuda_worker_get_count()));
}

void stop() { delete std::exchange(crew, nullptr); }

}  // namespace tessera::detail::staging
