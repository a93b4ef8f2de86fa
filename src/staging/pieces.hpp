// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "cuda_resources.hpp"
#include "staging/staging.hpp"

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

/// A tile, or a panel of one, in the host's memory, and where it is in a GPU's. Both are columns of `height` bytes.
struct Tile {
  std::byte* host;
  std::size_t host_stride;
  std::byte* device;
  std::size_t device_stride;
  std::size_t height;
  int columns;

  int columns_of_a_piece() const { return static_cast<int>(std::max<std::size_t>(1, buffer_bytes / height)); }
};

/// One copy of a tile, cut into pieces for whoever has time.
struct Job {
  Tile tile{};
  bool in = false;  ///< to the GPU
  int device = 0;
  cudaStream_t stream = nullptr;  ///< StarPU's: what it waits for

  int step() const { return tile.columns_of_a_piece(); }
  int pieces() const { return (tile.columns + step() - 1) / step(); }
};

/// Some columns of a tile, in a buffer without gaps.
class Piece {
 public:
  Piece(const Job& job, int index, Buffer& buffer)
      : job_(&job), buffer_(&buffer), first_(index * job.step()),
        count_(std::min(job.step(), job.tile.columns - first_)) {}

  void begin(cudaStream_t stream) {
    buffer_->wait();
    if (job_->in) {
      each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(packed, column, bytes); });
      link(device(), tile().device_stride, buffer_->data(), tile().height, cudaMemcpyHostToDevice, stream);
    } else {
      link(buffer_->data(), tile().height, device(), tile().device_stride, cudaMemcpyDeviceToHost, stream);
    }
    buffer_->mark(job_->device, stream);
  }
  void end() {
    if (job_->in) return;  // StarPU waits
    buffer_->wait();
    each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(column, packed, bytes); });
  }
  cudaEvent_t on_link() const { return buffer_->pending(); }

 private:
  const Tile& tile() const { return job_->tile; }
  std::byte* device() const { return tile().device + static_cast<std::size_t>(first_) * tile().device_stride; }
  void link(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    const auto columns = static_cast<std::size_t>(count_);
    const bool dense = to_stride == tile().height && from_stride == tile().height;
    require(dense ? cudaMemcpyAsync(to, from, columns * tile().height, kind, stream)
                  : cudaMemcpy2DAsync(to, to_stride, from, from_stride, tile().height, columns, kind, stream),
            "a copy of a tile");
  }
  template <typename Copy>
  void each_column(Copy copy) const {
    for (int j = 0; j < count_; j++)
      copy(static_cast<std::byte*>(buffer_->data()) + static_cast<std::size_t>(j) * tile().height,
           tile().host + static_cast<std::size_t>(first_ + j) * tile().host_stride, tile().height);
  }

  const Job* job_;
  Buffer* buffer_;
  int first_, count_;
};

}  // namespace tessera::detail::staging
