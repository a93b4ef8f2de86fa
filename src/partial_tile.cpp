// SPDX-License-Identifier: BSD-3-Clause
#include "partial_tile.hpp"

#include <cerrno>

namespace tessera::detail {

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
  set_part(tile, Part::All, 0);
}

std::size_t size(starpu_data_handle_t tile) { return on_node(tile, STARPU_MAIN_RAM).bytes; }

int copy(void* source, unsigned from, void* target, unsigned to, void* request) {
  const auto& s = *static_cast<const PartialTile*>(source);
  const auto& t = *static_cast<const PartialTile*>(target);
  bool pending = false;
  for_each_panel(s, [&](const Rectangle& panel) {
    const auto element = s.matrix.elemsize;
    const int status = starpu_interface_copy2d(
        s.matrix.dev_handle, s.matrix.offset + offset(s.matrix, panel), from, t.matrix.dev_handle,
        t.matrix.offset + offset(t.matrix, panel), to, static_cast<std::size_t>(panel.m) * element,
        static_cast<std::size_t>(panel.n), s.matrix.ld * element, t.matrix.ld * element, request);
    pending = pending || status != 0;
  });
  starpu_interface_data_copy(from, to, s.bytes);
  return pending ? -EAGAIN : 0;
}

}  // namespace

const starpu_data_interface_ops& partial_tile_ops() {
  static const auto methods = [] {
    auto partial = *starpu_interface_matrix_ops.copy_methods;
    partial.any_to_any = copy;
    return partial;
  }();
  static const auto ops = [] {
    auto partial = starpu_interface_matrix_ops;
    partial.register_data_handle = register_whole;
    partial.copy_methods = &methods;
    partial.get_size = size;
    partial.interface_size = sizeof(PartialTile);
    return partial;
  }();
  return ops;
}

void use_triangle(starpu_data_handle_t tile, Uplo uplo, int diagonal) {
  set_part(tile, codelets::part_of(uplo), diagonal);
}

}  // namespace tessera::detail
