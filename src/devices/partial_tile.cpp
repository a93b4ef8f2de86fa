// SPDX-License-Identifier: BSD-3-Clause
#include "partial_tile.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "common/ending_tiles.hpp"
#include "common/overwrites.hpp"
#ifdef TESSERA_WITH_OPENCL
#include "devices/opencl/tile_copies.hpp"
#endif

namespace tessera::device {

namespace {

PartialTile& on_node(starpu_data_handle_t tile, unsigned node) {
  return *static_cast<PartialTile*>(starpu_data_get_interface_on_node(tile, node));
}

std::size_t copied_bytes(const PartialTile& tile) {
  std::size_t elements = 0;
  for_each_panel(tile, [&](const Rectangle& panel) {
    elements += static_cast<std::size_t>(panel.m) * static_cast<std::size_t>(panel.n);
  });
  return elements * tile.matrix.elemsize;
}

void set_part(starpu_data_handle_t tile, Part part, int diagonal) {
  for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
    auto& local = on_node(tile, node);
    local.part = part, local.diagonal = diagonal;
    local.bytes = copied_bytes(local);
  }
}

void register_whole(starpu_data_handle_t tile, int home, void* matrix) {
  starpu_interface_matrix_ops.register_data_handle(tile, home, matrix);
  for (unsigned node = 0; node < STARPU_MAXNODES; node++) on_node(tile, node).home = home;
  set_part(tile, Part::All, 0);
}

std::size_t size(starpu_data_handle_t tile) { return on_node(tile, STARPU_MAIN_RAM).bytes; }

/// A copy of a tile between two nodes, as requested by StarPU, in one or more rectangles.
struct Transfer {
  const starpu_matrix_interface& source;
  unsigned from;
  const starpu_matrix_interface& target;
  unsigned to;
  void* request;
  bool pending = false;

  void copy(const Rectangle& part) {
    const auto element = source.elemsize;
    if (starpu_node_get_kind(to) == STARPU_CPU_RAM) {
      const auto* const tile = reinterpret_cast<const std::byte*>(target.ptr);
      common::overwrites::before(tile + offset(target, part.i, part.j),
                                 tile + offset(target, part.i + part.m, part.j + part.n - 1));
    }
    if (std::max(source.ld, target.ld) * element <= most_apart) return copy_columns(part);
    for (int j = part.j; j < part.j + part.n; j++) copy_columns({part.i, j, part.m, 1});
  }

 private:
  void copy_columns(const Rectangle& part) {
    const auto element = source.elemsize, height = static_cast<std::size_t>(part.m) * element;
    const bool one = part.n == 1;
    const int status = starpu_interface_copy2d(
        source.dev_handle, source.offset + offset(source, part.i, part.j), from, target.dev_handle,
        target.offset + offset(target, part.i, part.j), to, height, static_cast<std::size_t>(part.n),
        one ? height : source.ld * element, one ? height : target.ld * element, request);
    pending = pending || status != 0;
  }
};

int copy(void* source, unsigned from, void* target, unsigned to, void* request) {
  const auto& s = *static_cast<const PartialTile*>(source);
  Transfer transfer{s.matrix, from, static_cast<const PartialTile*>(target)->matrix, to, request};
  const auto whole = [&](const Rectangle& part) { transfer.copy(part); };
  const auto by_columns = [&](const Rectangle& corner) { for_each_used_column(s, corner, whole); };
  const bool on_host = starpu_node_get_kind(from) == STARPU_CPU_RAM || starpu_node_get_kind(to) == STARPU_CPU_RAM;
  if (on_host || static_cast<int>(to) == s.home) for_each_part(s, whole, by_columns);
  else for_each_panel(s, whole);
  starpu_interface_data_copy(from, to, s.bytes);
  return transfer.pending ? -EAGAIN : 0;
}

}  // namespace

const starpu_data_interface_ops& partial_tile_ops() {
  static const auto methods = [] {
    auto partial = *starpu_interface_matrix_ops.copy_methods;
    partial.any_to_any = copy;
#ifdef TESSERA_WITH_OPENCL
    opencl_copies::add_to(partial);
#endif
    return partial;
  }();
  static const auto ops = [] {
    auto partial = common::forgotten_at_their_end(starpu_interface_matrix_ops);
    partial.register_data_handle = register_whole;
    partial.copy_methods = &methods;
    partial.get_size = size;
    partial.interface_size = sizeof(PartialTile);
    return partial;
  }();
  return ops;
}

void use_triangle(starpu_data_handle_t tile, Uplo uplo, int diagonal) {
  set_part(tile, common::part_of(uplo), diagonal);
}

}  // namespace tessera::device
