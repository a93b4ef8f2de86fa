// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "columns.hpp"
#include "devices/packed_columns.hpp"
#include "devices/partial_tile.hpp"
#include "memory/staging/thread_pool.hpp"
#include "resources.hpp"

/// How one thread copies pieces of a tile between host memory and a GPU, through pinned staging buffers.
namespace tessera::device::staging {

using gpu::require;

/// A pinned buffer that records whether the link still uses it.
class StagingBuffer {
 public:
  /// Allocates the memory, unless it exists.
  /// @param device  one that will use it
  void prepare(int device) {
    if (data_ == nullptr) data_ = gpu::allocate_host(buffer_bytes, device);
  }
  void* data() const { return data_.get(); }

  /// Waits until the marked copies are done.
  void wait() {
    if (pending_ != nullptr) require(cudaEventSynchronize(pending_), "a copy through a pinned buffer");
    pending_ = nullptr;
  }
  /// Marks the copies now in `stream` as users of the buffer.
  /// @pre  `stream` belongs to `device`, the current device
  void mark(int device, cudaStream_t stream) {
    auto& event = events_[device];
    if (event == nullptr) event = gpu::create_event(cudaEventDisableTiming);
    require(cudaEventRecord(event.get(), stream), "cudaEventRecord");
    pending_ = event.get();
  }
  /// The event of the marked copies; null if they are done.
  cudaEvent_t pending() const { return pending_; }

 private:
  gpu::HostMemory data_;
  std::map<int, gpu::Event> events_;  ///< by device
  cudaEvent_t pending_ = nullptr;
};

/// The copy of one tile between host memory and a GPU, in pieces.
struct TileCopy {
  const PartialTile* host = nullptr;
  const PartialTile* device = nullptr;
  std::span<const Rectangle> pieces;  ///< each fits a staging buffer
  bool to_gpu = false;
  int gpu = 0;
  cudaStream_t stream = nullptr;  ///< the stream that StarPU waits for
  bool streams = false;           ///< whether the host's copies to the buffers bypass the caches

  int piece_count() const { return static_cast<int>(pieces.size()); }
  void select_device() const { require(cudaSetDevice(gpu), "cudaSetDevice"); }
};

/// The copy of some columns of a tile through a buffer in pinned memory.
class Piece {
 public:
  Piece(const TileCopy& job, int index, void* buffer)
      : columns_(*job.host, job.pieces[static_cast<std::size_t>(index)], buffer), device_(job.device->matrix),
        to_gpu_(job.to_gpu), streams_(job.streams) {}

  bool to_gpu() const { return to_gpu_; }

  /// The number of parts of about this size [bytes], of at least one column each.
  int part_count(std::size_t bytes) const {
    return std::clamp(static_cast<int>((columns_.bytes() + bytes / 2) / bytes), 1, columns_.rectangle().n);
  }
  /// The copy between host memory and the buffer, or a part of it. It precedes the link's copy to the GPU, or follows
  /// the copy from it.
  void copy_on_host(int part = 0, int parts = 1) const {
    const auto columns = columns_.part(part, parts);
    to_gpu_ ? columns.pack(streams_) : columns.unpack();
  }

  /// Starts the copy between the buffer and the GPU.
  void copy_on_link(cudaStream_t stream) const {
    const auto& rectangle = columns_.rectangle();
    auto* const device = reinterpret_cast<std::byte*>(device_.ptr) + offset(device_, rectangle.i, rectangle.j);
    const auto stride = device_.ld * device_.elemsize, height = columns_.height();
    if (to_gpu_) link(device, stride, columns_.buffer(), height, cudaMemcpyHostToDevice, stream);
    else link(columns_.buffer(), height, device, stride, cudaMemcpyDeviceToHost, stream);
  }

 private:
  void link(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    require(cuda::copy_columns(to, to_stride, from, from_stride, columns_.height(),
                               static_cast<std::size_t>(columns_.rectangle().n), kind, stream),
            "a copy of a tile");
  }

  PackedColumns columns_;
  starpu_matrix_interface device_;
  bool to_gpu_, streams_;
};

/// The resources of a copying thread: two staging buffers, and a stream for each GPU. The thread packs or unpacks one
/// buffer while the link uses the other. Threads do not share streams, because they would wait for each other's copies.
class Copier {
 public:
  using Job = TileCopy;
  static constexpr std::size_t bytes = 2 * buffer_bytes;  ///< bytes of pinned memory

  /// @throws RuntimeError
  void prepare(const TileCopy& job) {
    for (auto& buffer : both_) buffer.prepare(job.gpu);
    if (auto& stream = streams_[job.gpu]; stream == nullptr) stream = gpu::create_stream(job.gpu);
  }

  /// Copies pieces until none are left. On return the pieces are in host memory, or `job.stream` waits for the link.
  /// @pre  `job.gpu` is the current device
  /// @throws RuntimeError; then the link no longer copies
  void copy(const TileCopy& job, memory::staging::Pieces& pieces) {
    auto* const link = streams_.at(job.gpu).get();
    try {
      copy(job, pieces, link);
    } catch (...) {  // the caller releases the tile, and the next job uses the buffers
      cudaStreamSynchronize(link);
      throw;
    }
  }

 private:
  void copy(const TileCopy& job, memory::staging::Pieces& pieces, cudaStream_t link) {
    std::optional<Begun> last;
    while (const auto index = pieces.take()) {
      auto& buffer = next_buffer();
      buffer.wait();
      const Begun begun{{job, *index, buffer.data()}, &buffer};
      if (job.to_gpu) begun.piece.copy_on_host();
      begun.piece.copy_on_link(link);
      buffer.mark(job.gpu, link);
      if (last) last->end();
      last = begun;
    }
    if (!last) return;
    if (job.to_gpu) require(cudaStreamWaitEvent(job.stream, last->buffer->pending()), "cudaStreamWaitEvent");
    last->end();
  }

  /// A piece whose copy over the link has started.
  struct Begun {
    Piece piece;
    StagingBuffer* buffer;

    /// From the GPU: waits for the link, then unpacks the columns.
    void end() const {
      if (piece.to_gpu()) return;  // StarPU waits for the link
      buffer->wait();
      piece.copy_on_host();
    }
  };

  StagingBuffer& next_buffer() { return both_[next_ ^= 1]; }

  StagingBuffer both_[2];
  int next_ = 0;
  std::map<int, gpu::Stream> streams_;  ///< by device
};

}  // namespace tessera::device::staging
