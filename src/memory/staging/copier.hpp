// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "machine/cuda_resources.hpp"
#include "memory/partial_tile.hpp"
#include "staging.hpp"
#include "thread_pool.hpp"

/// How one thread copies pieces of a tile between host memory and a GPU, through pinned staging buffers.
namespace tessera::detail::staging {

using gpu::require;

/// A pinned buffer that knows whether the link still uses it.
class StagingBuffer {
 public:
  void* data() const { return data_.get(); }

  /// Waits for the marked copies.
  void wait() {
    if (pending_ != nullptr) require(cudaEventSynchronize(pending_), "a copy through a pinned buffer");
    pending_ = nullptr;
  }
  /// Marks all copies that are in `stream` now: they use the buffer.
  /// @pre  `stream` belongs to `device`, the current device
  void mark(int device, cudaStream_t stream) {
    auto& event = events_[device];
    if (event == nullptr) event = gpu::create_event(cudaEventDisableTiming);
    require(cudaEventRecord(event.get(), stream), "cudaEventRecord");
    pending_ = event.get();
  }
  /// The event of the marked copies. Null: they are done.
  cudaEvent_t pending() const { return pending_; }

 private:
  gpu::HostMemory data_ = gpu::allocate_host(buffer_bytes);
  std::map<int, gpu::Event> events_;  ///< by device
  cudaEvent_t pending_ = nullptr;
};

/// The copy of one tile between host memory and a GPU, in pieces: a job for the thread pool.
struct TileCopy {
  const PartialTile* host = nullptr;
  const PartialTile* device = nullptr;
  std::span<const Rectangle> pieces;  ///< each fits a staging buffer
  bool to_gpu = false;
  int gpu = 0;
  cudaStream_t stream = nullptr;  ///< the stream that StarPU waits for

  int piece_count() const { return static_cast<int>(pieces.size()); }
  void select_device() const { require(cudaSetDevice(gpu), "cudaSetDevice"); }
};

/// The copy of some columns of a tile through a staging buffer, where they lie without gaps. The link copies the whole
/// rectangle. In host memory, only the used part of the tile is read and written.
class Piece {
 public:
  Piece(const TileCopy& job, int index, StagingBuffer& buffer)
      : job_(&job), buffer_(&buffer), rectangle_(job.pieces[static_cast<std::size_t>(index)]) {}

  /// Starts the copy on the link. To the GPU: packs the columns into the buffer first.
  void begin(cudaStream_t stream) {
    buffer_->wait();
    const auto& tile = job_->device->matrix;
    auto* const device = reinterpret_cast<std::byte*>(tile.ptr) + offset(tile, rectangle_.i, rectangle_.j);
    if (job_->to_gpu) {
      each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(packed, column, bytes); });
      link(device, tile.ld * tile.elemsize, buffer_->data(), height(), cudaMemcpyHostToDevice, stream);
    } else {
      link(buffer_->data(), height(), device, tile.ld * tile.elemsize, cudaMemcpyDeviceToHost, stream);
    }
    buffer_->mark(job_->gpu, stream);
  }
  /// From the GPU: waits for the link, and unpacks the columns.
  void end() {
    if (job_->to_gpu) return;  // StarPU waits for the link
    buffer_->wait();
    each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(column, packed, bytes); });
  }
  /// The event of this copy on the link.
  cudaEvent_t on_link() const { return buffer_->pending(); }

 private:
  /// The bytes of a column in the buffer.
  std::size_t height() const { return static_cast<std::size_t>(rectangle_.m) * job_->host->matrix.elemsize; }
  void link(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    const auto columns = static_cast<std::size_t>(rectangle_.n);
    const bool dense = to_stride == height() && from_stride == height();
    require(dense ? cudaMemcpyAsync(to, from, columns * height(), kind, stream)
                  : cudaMemcpy2DAsync(to, to_stride, from, from_stride, height(), columns, kind, stream),
            "a copy of a tile");
  }
  /// Calls copy(packed, column, bytes) for the used part of each column.
  template <typename Copy>
  void each_column(Copy copy) const {
    const auto& host = job_->host->matrix;
    auto* packed = static_cast<std::byte*>(buffer_->data());
    for (int j = rectangle_.j; j < rectangle_.j + rectangle_.n; j++, packed += height())
      if (const auto [begin, end] = used_rows(*job_->host, rectangle_, j); begin < end)
        copy(packed + static_cast<std::size_t>(begin - rectangle_.i) * host.elemsize,
             reinterpret_cast<std::byte*>(host.ptr) + offset(host, begin, j),
             static_cast<std::size_t>(end - begin) * host.elemsize);
  }

  const TileCopy* job_;
  StagingBuffer* buffer_;
  Rectangle rectangle_;
};

/// What one thread copies with: two staging buffers, and a stream for each GPU. The thread packs or unpacks one buffer
/// while the link uses the other. Threads do not share streams, since they would wait for each other's copies.
class Copier {
 public:
  using Job = TileCopy;
  static constexpr std::size_t bytes = 2 * buffer_bytes;  ///< of pinned memory

  /// Copies pieces until none is left. On return they are in host memory, or `job.stream` waits for the link.
  /// @pre  `job.gpu` is the current device
  /// @throws RuntimeError
  void copy(const TileCopy& job, Pieces& pieces) {
    const auto link = stream(job.gpu);
    std::optional<Piece> last;
    while (const auto index = pieces.take()) {
      Piece piece(job, *index, next_buffer());
      piece.begin(link);
      if (last) last->end();
      last = piece;
    }
    if (!last) return;
    if (job.to_gpu) require(cudaStreamWaitEvent(job.stream, last->on_link()), "cudaStreamWaitEvent");
    last->end();
  }

 private:
  StagingBuffer& next_buffer() { return both_[next_ ^= 1]; }
  cudaStream_t stream(int device) {
    auto& stream = streams_[device];
    if (stream == nullptr) stream = gpu::create_stream(device);
    return stream.get();
  }

  StagingBuffer both_[2];
  int next_ = 0;
  std::map<int, gpu::Stream> streams_;  ///< by device
};

}  // namespace tessera::detail::staging
