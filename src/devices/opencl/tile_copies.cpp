// SPDX-License-Identifier: BSD-3-Clause
#include "tile_copies.hpp"

#include <starpu_opencl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/not_copyable.hpp"
#include "common/overwrites.hpp"
#include "devices/cpu/copying_threads.hpp"
#include "devices/packed_columns.hpp"
#include "devices/partial_tile.hpp"
#include "found_devices.hpp"
#include "memory/staging/thread_pool.hpp"
#include "objects.hpp"
#include "staged_copier.hpp"

namespace tessera::device::opencl_copies {

namespace {

struct Device : staging::OpenClDevice {
  bool staged = false;  ///< whether copies go through pinned staging buffers
};

/// The devices, by memory node. Never destroyed, like the pool: a forked child has neither the threads nor the devices.
auto& devices = *new std::array<Device, STARPU_MAXNODES>;

/// Threads for copies through staging buffers. Null if no device needs them.
memory::staging::ThreadPool<staging::OpenClCopier>* pool = nullptr;

/// The commands that copy one tile.
class Copy {
 public:
  /// @param device, host  the tile on each side
  Copy(cl_command_queue queue, const PartialTile& device, const PartialTile& host)
      : queue_(queue), device_(device.matrix), host_(host.matrix) {}

  void to_device(const Rectangle& part) {
    const Shape shape(*this, part);
    began(clEnqueueWriteBufferRect(queue_, buffer(), CL_FALSE, shape.device, shape.host, shape.size, pitch(device_), 0,
                                   pitch(host_), 0, host(), 0, nullptr, next_event()));
  }
  void to_host(const Rectangle& part) {
    const auto* const tile = host() + host_.offset;
    common::overwrites::before(tile + offset(host_, part.i, part.j),
                               tile + offset(host_, part.i + part.m, part.j + part.n - 1));
    const Shape shape(*this, part);
    began(clEnqueueReadBufferRect(queue_, buffer(), CL_FALSE, shape.device, shape.host, shape.size, pitch(device_), 0,
                                  pitch(host_), 0, host(), 0, nullptr, next_event()));
  }

  /// Hands the event of the last command to the caller. The queue is in order, so this event covers all commands.
  /// @return  whether there is an event
  bool give_event(cl_event& event) {
    clFlush(queue_);
    event = last_.release();
    return event != nullptr;
  }

 private:
  /// A rectangle of a column-major tile in the form that OpenCL expects, in bytes and columns: its origins on both
  /// sides, and its size.
  struct Shape : common::NotCopyable {
    std::array<std::size_t, 3> device_origin, host_origin, region;
    const std::size_t *device = device_origin.data(), *host = host_origin.data(), *size = region.data();

    Shape(const Copy& copy, const Rectangle& part)
        : device_origin(origin(copy.device_, part)),
          host_origin(origin(copy.host_, part)), region{static_cast<std::size_t>(part.m) * copy.host_.elemsize,
                                                        static_cast<std::size_t>(part.n), 1} {}

    static std::array<std::size_t, 3> origin(const starpu_matrix_interface& tile, const Rectangle& part) {
      const auto start = tile.offset, column = tile.ld * tile.elemsize;
      return {start % column + static_cast<std::size_t>(part.i) * tile.elemsize,
              start / column + static_cast<std::size_t>(part.j), 0};
    }
  };

  static std::size_t pitch(const starpu_matrix_interface& tile) { return tile.ld * tile.elemsize; }
  cl_mem buffer() const { return reinterpret_cast<cl_mem>(device_.dev_handle); }
  std::byte* host() const { return reinterpret_cast<std::byte*>(host_.dev_handle); }
  cl_event* next_event() {
    event_ = nullptr;
    return &event_;
  }
  void began(cl_int status) {
    if (status != CL_SUCCESS)
      common::report_failure("a copy between the host and an OpenCL device: OpenCL's error " + std::to_string(status));
    else last_.reset(event_);
  }

  cl_command_queue queue_;
  const starpu_matrix_interface &device_, &host_;
  cl_event event_ = nullptr;
  opencl::Event last_;
};

/// Whether a tile goes through staging buffers. Columns larger than a buffer are copied directly.
bool is_staged(const PartialTile& tile, const Device& device) {
  return device.staged && tile.matrix.nx * tile.matrix.elemsize <= staging::buffer_bytes;
}

/// Copies a tile through staging buffers. A copy from the device is complete on return.
/// @return  false if the tile must be copied directly, because there is nothing to copy or staging has failed
bool copy_staged(const PartialTile& host, const PartialTile& tile, bool to_device, const Device& device) {
  std::vector<Rectangle> pieces;
  try {
    const auto largest = staging::piece_bytes(host.bytes, pool->threads() + 1);
    for_each_panel(host, [&](const Rectangle& panel) { staging::cut(panel, host.matrix.elemsize, largest, pieces); });
    if (!pieces.empty()) pool->run({&host, &tile, pieces, to_device, &device});
    return !pieces.empty();
  } catch (const std::exception& error) {  // must not propagate through StarPU; the failure may be of an earlier tile
    common::report_failure(error.what());
    return false;
  }
}

/// Hands the caller an event that covers everything in a queue.
/// @return  false if there is no event, because everything has already finished
bool give_event_of_all(cl_command_queue queue, cl_event& event) {
  const auto status = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event);
  clFlush(queue);  // StarPU only polls the event
  if (status == CL_SUCCESS) return true;
  common::report_failure("a copy to an OpenCL device: OpenCL's error " + std::to_string(status));
  clFinish(queue);
  return false;
}

int to_device_async(void* source, unsigned /*from*/, void* target, unsigned to, cl_event* event) {
  const auto& host = *static_cast<const PartialTile*>(source);
  const auto& tile = *static_cast<const PartialTile*>(target);
  const auto& device = devices[to];
  starpu_interface_data_copy(STARPU_MAIN_RAM, to, host.bytes);
  if (is_staged(host, device) && copy_staged(host, tile, true, device))
    return give_event_of_all(device.in.get(), *event) ? -EAGAIN : 0;
  Copy copy(device.in.get(), tile, host);
  for_each_panel(host, [&](const Rectangle& panel) { copy.to_device(panel); });
  return copy.give_event(*event) ? -EAGAIN : 0;
}

int to_host_async(void* source, unsigned from, void* target, unsigned to, cl_event* event) {
  const auto& tile = *static_cast<const PartialTile*>(source);
  const auto& host = *static_cast<const PartialTile*>(target);
  const auto& device = devices[from];
  starpu_interface_data_copy(from, to, tile.bytes);
  if (is_staged(host, device) && copy_staged(host, tile, false, device)) return 0;
  Copy copy(device.out.get(), tile, host);
  const auto to_host = [&](const Rectangle& rectangle) { copy.to_host(rectangle); };
  for_each_part(tile, to_host, [&](const Rectangle& corner) { for_each_used_column(tile, corner, to_host); });
  return copy.give_event(*event) ? -EAGAIN : 0;
}

template <auto copy>
int and_wait(void* source, unsigned from, void* target, unsigned to) {
  cl_event event = nullptr;
  if (copy(source, from, target, to, &event) == 0) return 0;
  const opencl::Event owned(event);
  const auto status = clWaitForEvents(1, &event);
  if (status != CL_SUCCESS)
    common::report_failure("a copy between the host and an OpenCL device: OpenCL's error " + std::to_string(status));
  return 0;
}

}  // namespace

void start(std::size_t pinned_memory) {
  std::size_t staged = 0;
  bool gains_from_help = false;
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    if (starpu_node_get_kind(node) != STARPU_OPENCL_RAM) continue;
    auto& device = devices[node];
    cl_device_id id = nullptr;
    starpu_opencl_get_context(starpu_memory_node_get_devid(node), &device.context);
    starpu_opencl_get_device(starpu_memory_node_get_devid(node), &id);
    device.in = opencl::new_queue(device.context, id), device.out = opencl::new_queue(device.context, id);
    device.staged = opencl::gains_from_pinned_memory(id);
    if (!device.staged) continue;
    staged++;
    gains_from_help |= !opencl::is_processor(id);  // PoCL's processor devices can block concurrent threads
  }
  if (staged == 0) return;
  pool = new memory::staging::ThreadPool<staging::OpenClCopier>(
      gains_from_help ? memory::staging::threads_of_pool(copying_threads(staged).count, pinned_memory,
                                                         staged * staging::OpenClCopier::bytes, staged)
                      : 0);
}

void stop() {
  delete std::exchange(pool, nullptr);
  for (auto& device : devices) device = {};
}

void add_to(starpu_data_copy_methods& methods) {
  methods.ram_to_opencl = and_wait<to_device_async>;
  methods.opencl_to_ram = and_wait<to_host_async>;
  methods.ram_to_opencl_async = to_device_async;
  methods.opencl_to_ram_async = to_host_async;
}

}  // namespace tessera::device::opencl_copies
