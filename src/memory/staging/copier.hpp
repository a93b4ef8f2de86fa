// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "common/overwrites.hpp"
#include "common/streaming_copy.hpp"
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

/// The copy of some columns of a tile through a buffer in pinned memory, where they lie without gaps. The link copies
/// the whole rectangle. In host memory, only the used part of the tile is read and written.
class Piece {
 public:
  Piece(const TileCopy& job, int index, void* buffer)
      : host_(*job.host), device_(job.device->matrix), rectangle_(job.pieces[static_cast<std::size_t>(index)]),
        buffer_(static_cast<std::byte*>(buffer)), to_gpu_(job.to_gpu) {}

  bool to_gpu() const { return to_gpu_; }

  /// The copy between the columns in host memory and the buffer: before the link's to the GPU, after it from the GPU.
  void copy_on_host() const {
    if (!to_gpu_) overwrites::before(at(rectangle_.i, rectangle_.j), at(end_row(), end_column() - 1));
    auto* packed = buffer_;
    for (int j = rectangle_.j; j < end_column(); j++, packed += height())
      if (const auto [begin, end] = used_rows(host_, rectangle_, j); begin < end) {
        auto* const column = at(begin, j);
        auto* const in_buffer = packed + static_cast<std::size_t>(begin - rectangle_.i) * host_.matrix.elemsize;
        const auto bytes = static_cast<std::size_t>(end - begin) * host_.matrix.elemsize;
        if (to_gpu_) std::memcpy(in_buffer, column, bytes);  // the link reads it from the caches
        else if (is_large()) copy_streaming(column, in_buffer, bytes);
        else std::memcpy(column, in_buffer, bytes);
      }
    end_streaming();
  }

  /// Starts the copy between the buffer and the GPU.
  void copy_on_link(cudaStream_t stream) const {
    auto* const device = reinterpret_cast<std::byte*>(device_.ptr) + offset(device_, rectangle_.i, rectangle_.j);
    const auto stride = device_.ld * device_.elemsize;
    if (to_gpu_) link(device, stride, buffer_, height(), cudaMemcpyHostToDevice, stream);
    else link(buffer_, height(), device, stride, cudaMemcpyDeviceToHost, stream);
  }

 private:
  /// Whether the tile is too large for a program to find it in the caches. With tiles of 4096 in double precision,
  /// dgemm of n = 16384 was 3 % faster with streaming copies; the limit is assumed.
  bool is_large() const { return host_.bytes >= std::size_t{32} << 20; }
  int end_row() const { return rectangle_.i + rectangle_.m; }
  int end_column() const { return rectangle_.j + rectangle_.n; }
  /// An element in host memory.
  std::byte* at(int i, int j) const {
    return reinterpret_cast<std::byte*>(host_.matrix.ptr) + offset(host_.matrix, i, j);
  }
  /// The bytes of a column in the buffer.
  std::size_t height() const { return static_cast<std::size_t>(rectangle_.m) * host_.matrix.elemsize; }
  void link(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    const auto columns = static_cast<std::size_t>(rectangle_.n);
    const bool dense = to_stride == height() && from_stride == height();
    require(dense ? cudaMemcpyAsync(to, from, columns * height(), kind, stream)
                  : cudaMemcpy2DAsync(to, to_stride, from, from_stride, height(), columns, kind, stream),
            "a copy of a tile");
  }

  PartialTile host_;
  starpu_matrix_interface device_;
  Rectangle rectangle_;
  std::byte* buffer_;
  bool to_gpu_;
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

 private:
  /// A piece whose copy on the link has begun.
  struct Begun {
    Piece piece;
    StagingBuffer* buffer;

    /// From the GPU: waits for the link, and unpacks the columns.
    void end() const {
      if (piece.to_gpu()) return;  // StarPU waits for the link
      buffer->wait();
      piece.copy_on_host();
    }
  };

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
