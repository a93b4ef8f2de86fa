// SPDX-License-Identifier: BSD-3-Clause
#include <starpu.h>

#include <array>
#include <cerrno>
#include <limits>
#include <mutex>
#include <new>
#include <optional>

#include "common/variables.hpp"
#include "devices/gpu.hpp"
#include "devices/packed_columns.hpp"
#include "devices/partial_tile.hpp"
#include "devices/tile_interface.hpp"
#include "memory/device_heap.hpp"
#include "resources.hpp"
#include "staging.hpp"

namespace tessera::device::tile_interface {

namespace {

/// The driver's unit of memory. It may put several smaller allocations into one, which other processes can open only as
/// a whole.
constexpr std::size_t driver_unit = std::size_t{2} << 20;

memory::DeviceHeap::Source source(int device) {
  return {[device](std::size_t bytes) {
            const gpu::KeepCurrentDevice keep;
            if (uses_heap()) bytes = (bytes + driver_unit - 1) / driver_unit * driver_unit;  // only slabs are lent
            void* slab = nullptr;
            if (cudaSetDevice(device) != cudaSuccess || cudaMalloc(&slab, bytes) != cudaSuccess) {
              cudaGetLastError();  // other programs use the memory; StarPU then evicts tiles
              return static_cast<void*>(nullptr);
            }
            return slab;
          },
          [device](void* slab) {
            const gpu::KeepCurrentDevice keep;
            cudaSetDevice(device);
            cudaFree(slab);
            cudaGetLastError();
          }};
}

/// The heap of one GPU. It may outlive the session, because StarPU keeps unused tiles in it for reuse during its
/// shutdown, or after the session if the program's StarPU continues. The heap is destroyed when StarPU frees the last
/// tile.
struct Heap {
  std::mutex mutex;
  std::optional<memory::DeviceHeap> heap;  // guarded by mutex, like `ends`
  bool ends = false;

  memory::DeviceHeap& get(unsigned node) {
    if (!heap) {
      const auto limit = starpu_memory_get_total(node);  // -1: unknown
      heap.emplace(limit < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(limit),
                   source(starpu_memory_node_get_devid(node)));
    }
    return *heap;
  }
};

Heap& heap_of(unsigned node) {
  static auto& heaps = *new std::array<Heap, STARPU_MAXNODES>;  // StarPU may free tiles while the process exits
  return heaps[node];
}

void* take(unsigned node, std::size_t bytes) {
  if (!uses_heap()) return source(starpu_memory_node_get_devid(node)).take(bytes);
  auto& heap = heap_of(node);
  const std::lock_guard lock(heap.mutex);
  try {
    return heap.get(node).allocate(bytes);
  } catch (const std::bad_alloc&) {  // no host memory; must not propagate through StarPU
    return nullptr;
  }
}

starpu_ssize_t allocate(void* interface, unsigned node) {
  if (starpu_node_get_kind(node) != STARPU_CUDA_RAM)
    return starpu_interface_matrix_ops.allocate_data_on_node(interface, node);
  auto& matrix = *static_cast<starpu_matrix_interface*>(interface);
  const auto bytes = memory::DeviceHeap::aligned(matrix.allocsize);
  if (starpu_memory_allocate(node, bytes, 0) != 0) return -ENOMEM;
  auto* const piece = take(node, bytes);
  if (piece == nullptr) {
    starpu_memory_deallocate(node, bytes);
    return -ENOMEM;
  }
  matrix.ptr = matrix.dev_handle = reinterpret_cast<std::uintptr_t>(piece);
  matrix.offset = 0;
  matrix.ld = matrix.nx;
  return static_cast<starpu_ssize_t>(matrix.allocsize);
}

void release(void* interface, unsigned node) noexcept {
  if (starpu_node_get_kind(node) != STARPU_CUDA_RAM)
    return starpu_interface_matrix_ops.free_data_on_node(interface, node);
  auto& matrix = *static_cast<starpu_matrix_interface*>(interface);
  auto* const piece = reinterpret_cast<void*>(matrix.dev_handle);
  if (!uses_heap()) {
    source(starpu_memory_node_get_devid(node)).give_back(piece);
  } else {
    auto& [mutex, heap, ends] = heap_of(node);
    const std::lock_guard lock(mutex);
    heap->release(piece);
    if (ends && heap->all_free()) heap.reset();
  }
  starpu_memory_deallocate(node, memory::DeviceHeap::aligned(matrix.allocsize));
  matrix.ptr = matrix.dev_handle = 0;
}

/// A hash of a tile's size: StarPU reuses an allocation for tiles with the same footprint. It differs from the
/// footprint of StarPU's own matrix interface, whose allocations do not come from a heap.
std::uint32_t footprint(starpu_data_handle_t tile) {
  constexpr std::uint32_t ours = 0x7e55e4a;
  return starpu_hash_crc32c_be(static_cast<std::uint32_t>(starpu_matrix_get_allocsize(tile) >> 3), ours);
}

starpu_data_interface_ops with_heap(const starpu_data_copy_methods* methods) {
  auto ops = partial_tile_ops();
  ops.allocate_data_on_node = allocate;
  ops.free_data_on_node = release;
  ops.copy_methods = methods;
  ops.alloc_footprint = footprint;
  return ops;
}

}  // namespace

/// Without the heap, the driver allocates and frees each tile, to measure the benefit of the heap. The answer is the
/// same for the whole process, because tiles outlive sessions.
bool uses_heap() {
  static const bool uses = common::flag_in(common::variables::gpu_heap).value_or(true);
  return uses;
}

std::optional<memory::DeviceHeap::Position> lend(unsigned node, void* tile) {
  auto& heap = heap_of(node);
  const std::lock_guard lock(heap.mutex);
  return heap.heap ? heap.heap->lend(tile) : std::nullopt;
}

starpu_data_interface_ops* pinned() {
  static auto ops = with_heap(staging::pinned_copies());
  return &ops;
}

starpu_data_interface_ops* pageable() {
  static auto ops = with_heap(staging::pageable_copies());
  return &ops;
}

bool posts_copies() { return staging::posts_copies(); }

void start(std::size_t pinned_memory) {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    if (starpu_node_get_kind(node) != STARPU_CUDA_RAM || !uses_heap()) continue;
    auto& heap = heap_of(node);
    const std::lock_guard lock(heap.mutex);
    heap.ends = false;
    heap.get(node).prepare();
  }
  staging::start(pinned_memory);
}

void stop() {
  staging::stop();
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    auto& [mutex, heap, ends] = heap_of(node);
    const std::lock_guard lock(mutex);
    ends = true;
    if (heap && heap->all_free()) heap.reset();
  }
}

}  // namespace tessera::device::tile_interface
