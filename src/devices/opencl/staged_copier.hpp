// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "common/not_copyable.hpp"
#include "devices/packed_columns.hpp"
#include "devices/partial_tile.hpp"
#include "memory/staging/thread_pool.hpp"
#include "objects.hpp"

/// Copies by one thread of pieces of a tile between host memory and an OpenCL device, through pinned staging buffers.
namespace tessera::device::staging {

/// A device and its copy queues, which any thread may use.
struct OpenClDevice {
  cl_context context = nullptr;
  opencl::Queue in, out;
};

/// Starts a copy between a rectangle of a tile on a device and a packed buffer without gaps between the columns.
/// @return  the event that signals its end
inline opencl::Event copy_on_link(cl_command_queue queue, bool to_device, const starpu_matrix_interface& tile,
                                  const Rectangle& part, void* packed) {
  const std::size_t height = static_cast<std::size_t>(part.m) * tile.elemsize, pitch = tile.ld * tile.elemsize,
                    first = tile.offset + offset(tile, part.i, part.j);
  const auto columns = static_cast<std::size_t>(part.n);
  auto* const buffer = reinterpret_cast<cl_mem>(tile.dev_handle);
  cl_event event = nullptr;
  cl_int status = CL_SUCCESS;
  if (pitch == height) {
    const auto bytes = columns * height;
    status = to_device ? clEnqueueWriteBuffer(queue, buffer, CL_FALSE, first, bytes, packed, 0, nullptr, &event)
                       : clEnqueueReadBuffer(queue, buffer, CL_FALSE, first, bytes, packed, 0, nullptr, &event);
  } else {
    const std::size_t origin[] = {first % pitch, first / pitch, 0}, start[] = {0, 0, 0}, size[] = {height, columns, 1};
    status = to_device ? clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, origin, start, size, pitch, 0, height, 0,
                                                  packed, 0, nullptr, &event)
                       : clEnqueueReadBufferRect(queue, buffer, CL_FALSE, origin, start, size, pitch, 0, height, 0,
                                                 packed, 0, nullptr, &event);
  }
  opencl::require(status, "a copy between pinned memory and an OpenCL device");
  clFlush(queue);
  return opencl::Event(event);
}

/// The copy of one tile between host memory and an OpenCL device in pieces: a job of the thread pool.
struct OpenClTileCopy {
  const PartialTile* host = nullptr;
  const PartialTile* tile = nullptr;  ///< on the device
  std::span<const Rectangle> pieces;  ///< each fits a staging buffer
  bool to_device = false;
  const OpenClDevice* device = nullptr;

  int piece_count() const { return static_cast<int>(pieces.size()); }
  void select_device() const {}  // nothing to do: each call of OpenCL names its device
};

/// The resources of a copying thread: two staging buffers per device. The thread packs or unpacks one buffer while the
/// link uses the other.
class OpenClCopier {
 public:
  using Job = OpenClTileCopy;
  static constexpr std::size_t bytes = 2 * buffer_bytes;  ///< bytes of pinned memory for each device

  /// @throws RuntimeError if there is no pinned memory left
  void prepare(const OpenClTileCopy& job) { buffers_.try_emplace(job.device, *job.device); }

  /// Copies pieces until none are left. On return the pieces are in host memory, or in the device's queue.
  /// @throws RuntimeError
  void copy(const OpenClTileCopy& job, memory::staging::Pieces& pieces) {
    auto& both = buffers_.at(job.device);
    const auto& queue = job.to_device ? job.device->in : job.device->out;
    std::optional<Begun> last;
    for (bool second = false; const auto taken = pieces.take(); second = !second) {
      const auto index = static_cast<std::size_t>(*taken);
      auto& buffer = second ? both.second : both.first;
      buffer.wait();
      const Begun begun{{*job.host, job.pieces[index], buffer.memory.data()}, &buffer};
      if (job.to_device) begun.columns.pack();
      buffer.pending =
          copy_on_link(queue.get(), job.to_device, job.tile->matrix, begun.columns.rectangle(), begun.columns.buffer());
      if (last && !job.to_device) last->unpack();
      last = begun;
    }
    if (last && !job.to_device) last->unpack();
  }

 private:
  struct StagingBuffer : common::NotCopyable {
    opencl::PinnedMemory memory;
    opencl::Event pending;  ///< event of the last copy through the buffer; null: done

    explicit StagingBuffer(const OpenClDevice& device) : memory(device.context, device.in.get(), buffer_bytes) {}
    ~StagingBuffer() {
      if (auto* const event = pending.get(); event != nullptr) clWaitForEvents(1, &event);
    }

    /// Waits for the copy.
    void wait() {
      if (pending == nullptr) return;
      auto* const event = pending.get();
      const auto status = clWaitForEvents(1, &event);
      pending.reset();
      opencl::require(status, "a copy through pinned memory");
    }
  };
  /// A piece whose copy over the link has started.
  struct Begun {
    PackedColumns columns;
    StagingBuffer* buffer;

    void unpack() const {
      buffer->wait();
      columns.unpack();
    }
  };

  struct Both {
    StagingBuffer first, second;
    explicit Both(const OpenClDevice& device) : first(device), second(device) {}
  };

  std::map<const OpenClDevice*, Both> buffers_;
};

}  // namespace tessera::device::staging
