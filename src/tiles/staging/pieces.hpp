// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <span>

#include "machine/cuda_resources.hpp"
#include "staging.hpp"
#include "tiles/partial_tile.hpp"

/// A tile on its way between memory that is not pinned and a GPU: in pieces, through pinned buffers.
namespace tessera::detail::staging {

using gpu::require;

/// A pinned buffer, and when the link is done with it.
class Buffer {
 public:
  void* data() const { return data_.get(); }

  /// Waits until the copy that was marked has been done.
  void wait() {
    if (pending_ != nullptr) require(cudaEventSynchronize(pending_), "a copy through a pinned buffer");
    pending_ = nullptr;
  }
  /// The copies so far of `stream`, one of `device`, which is the current one, use the buffer.
  void mark(int device, cudaStream_t stream) {
    auto& event = events_[device];
    if (event == nullptr) event = gpu::create_event(cudaEventDisableTiming);
    require(cudaEventRecord(event.get(), stream), "cudaEventRecord");
    pending_ = event.get();
  }
  cudaEvent_t pending() const { return pending_; }

 private:
  gpu::HostMemory data_ = gpu::allocate_host(buffer_bytes);
  std::map<int, gpu::Event> events_;  ///< by device
  cudaEvent_t pending_ = nullptr;
};

/// What one thread copies with: while it packs one buffer, the link reads the other. A stream of its own, as threads
/// that share one wait for each other.
class Hands {
 public:
  static constexpr std::size_t bytes = 2 * buffer_bytes;  ///< pinned
  Buffer& take() { return both_[next_ ^= 1]; }
  cudaStream_t stream(int device) {
    auto& stream = streams_[device];
    if (stream == nullptr) stream = gpu::create_stream(device);
    return stream.get();
  }

 private:
  Buffer both_[2];
  int next_ = 0;
  std::map<int, gpu::Stream> streams_;
};

/// One copy between the tile in the host's memory and the one in a GPU's, in pieces for whoever has time.
struct Job {
  const PartialTile* host = nullptr;
  const PartialTile* device = nullptr;
  std::span<const Rectangle> pieces;  ///< each fits a buffer
  bool in = false;                    ///< to the GPU
  int gpu = 0;
  cudaStream_t stream = nullptr;  ///< StarPU's: what it waits for
};

/// Some columns of a tile, in a buffer without gaps. The link takes all of the rectangle; of the host's memory, only
/// what is used of the tile is read and written.
class Piece {
 public:
  Piece(const Job& job, int index, Buffer& buffer)
      : job_(&job), buffer_(&buffer), rectangle_(job.pieces[static_cast<std::size_t>(index)]) {}

  void begin(cudaStream_t stream) {
    buffer_->wait();
    const auto& tile = job_->device->matrix;
    auto* const device = reinterpret_cast<std::byte*>(tile.ptr) + offset(tile, rectangle_.i, rectangle_.j);
    if (job_->in) {
      each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(packed, column, bytes); });
      link(device, tile.ld * tile.elemsize, buffer_->data(), height(), cudaMemcpyHostToDevice, stream);
    } else {
      link(buffer_->data(), height(), device, tile.ld * tile.elemsize, cudaMemcpyDeviceToHost, stream);
    }
    buffer_->mark(job_->gpu, stream);
  }
  void end() {
    if (job_->in) return;  // StarPU waits
    buffer_->wait();
    each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(column, packed, bytes); });
  }
  cudaEvent_t on_link() const { return buffer_->pending(); }

 private:
  /// Bytes of a column in the buffer.
  std::size_t height() const { return static_cast<std::size_t>(rectangle_.m) * job_->host->matrix.elemsize; }
  void link(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    const auto columns = static_cast<std::size_t>(rectangle_.n);
    const bool dense = to_stride == height() && from_stride == height();
    require(dense ? cudaMemcpyAsync(to, from, columns * height(), kind, stream)
                  : cudaMemcpy2DAsync(to, to_stride, from, from_stride, height(), columns, kind, stream),
            "a copy of a tile");
  }
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

  const Job* job_;
  Buffer* buffer_;
  Rectangle rectangle_;
};

}  // namespace tessera::detail::staging
