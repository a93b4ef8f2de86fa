// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "copier.hpp"
#include "machine/cuda_resources.hpp"

/// How the triangle of a tile is copied from a GPU to pinned memory without a thread that waits.
namespace tessera::detail::staging {

/// A buffer for corners, and a stream whose host functions empty it.
class Lane {
 public:
  explicit Lane(int device) : stream_(gpu::create_stream(device)) {}
  ~Lane() { finish(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Starts the copies of pieces [begin, ...), as many as fit the buffer. The link copies them in the order of
  /// `job.stream`, which does not wait until they are in the tile.
  /// @return  the first piece that does not fit
  int start(const TileCopy& job, int begin) {
    auto pieces = std::make_unique<std::vector<Piece>>();
    auto* free = static_cast<std::byte*>(buffer_.get());
    auto* const end = free + buffer_bytes;
    wait(job.stream, emptied_);
    int index = begin;
    for (; index < job.piece_count(); index++) {
      const auto& [i, j, m, n] = job.pieces[static_cast<std::size_t>(index)];
      const auto bytes = static_cast<std::size_t>(m) * static_cast<std::size_t>(n) * job.host->matrix.elemsize;
      if (index > begin && free + bytes > end) break;
      pieces->emplace_back(job, index, free);
      pieces->back().copy_on_link(job.stream);
      free += bytes;
    }
    record(filled_, job.stream);
    wait(stream_.get(), filled_);
    const auto unpack = [](void* data) {
      const std::unique_ptr<std::vector<Piece>> filled(static_cast<std::vector<Piece>*>(data));
      for (const auto& piece : *filled) piece.copy_on_host();
    };
    require(cudaLaunchHostFunc(stream_.get(), unpack, pieces.get()), "cudaLaunchHostFunc");
    (void)pieces.release();  // the host function deletes them
    record(emptied_, stream_.get());
    return index;
  }

  /// Makes `stream` wait until all pieces are in their tiles.
  void join(cudaStream_t stream) { wait(stream, emptied_); }

  /// Returns when all host functions have run.
  void finish() { cudaStreamSynchronize(stream_.get()); }

 private:
  static void record(const gpu::Event& event, cudaStream_t stream) {
    require(cudaEventRecord(event.get(), stream), "cudaEventRecord");
  }
  static void wait(cudaStream_t stream, const gpu::Event& event) {
    require(cudaStreamWaitEvent(stream, event.get()), "cudaStreamWaitEvent");
  }

  gpu::HostMemory buffer_ = gpu::allocate_host(buffer_bytes);
  gpu::Stream stream_;
  gpu::Event filled_ = gpu::create_event(cudaEventDisableTiming), emptied_ = gpu::create_event(cudaEventDisableTiming);
};

/// The copies of triangles from all GPUs. A thread that drives a GPU would otherwise wait until the link has copied the
/// tiles before a corner.
class Corners {
 public:
  /// Starts to copy the pieces of a job, which are corners, and calls copy_rectangle(i) for each rectangle in between:
  /// while the link copies rectangles, host functions empty the buffers. `job.stream` waits for everything. Any number
  /// of threads may call this at a time.
  /// @pre  `job.gpu` is the current device, and a piece fits a staging buffer
  /// @throws RuntimeError
  template <typename CopyRectangle>
  void copy(const TileCopy& job, int rectangles, CopyRectangle copy_rectangle) {
    auto& [mutex, lanes] = device(job.gpu);
    const std::lock_guard lock(mutex);
    for (auto& lane : lanes)
      if (lane == nullptr) lane = std::make_unique<Lane>(job.gpu);
    try {
      std::size_t lane = 0;
      int rectangle = 0;
      for (int piece = 0; piece < job.piece_count(); lane ^= 1) {
        piece = lanes[lane]->start(job, piece);
        for (; rectangle < rectangles * piece / job.piece_count(); rectangle++) copy_rectangle(rectangle);
      }
      for (const auto& each : lanes) each->join(job.stream);
    } catch (...) {  // the tile is released: no host function may write to it afterwards
      for (const auto& each : lanes) each->finish();
      throw;
    }
  }

 private:
  struct Device {
    std::mutex mutex;
    /// Two: the link fills one buffer while a host function empties the other.
    std::array<std::unique_ptr<Lane>, 2> lanes;
  };

  Device& device(int gpu) {
    const std::lock_guard lock(mutex_);
    return devices_[gpu];
  }

  std::mutex mutex_;
  std::map<int, Device> devices_;  ///< guarded by mutex_, but not what is in a Device
};

}  // namespace tessera::detail::staging
