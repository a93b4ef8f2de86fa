// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <span>

#include "common/overwrites.hpp"
#include "copier.hpp"
#include "corner_kernel.hpp"
#include "machine/cuda_resources.hpp"
#include "memory/partial_tile.hpp"

/// How the corners of a triangle come from a GPU to pinned memory.
namespace tessera::detail::staging {

/// Kernels that copy corners, on a stream of their own for each GPU. The stream has the highest priority: on another
/// one, a kernel would wait until products that use all of the GPU have ended, and the tiles behind it with it.
class Corners {
 public:
  /// Starts to copy the pieces of a job, which are corners. `job.stream` waits for them. Any number of threads may call
  /// this at a time.
  /// @pre   `job.gpu` is the current device
  /// @return  false if the GPU cannot write to this memory; then nothing has happened
  /// @throws RuntimeError
  bool copy(const TileCopy& job) {
    const auto& host = *job.host;
    cudaPointerAttributes known{};
    require(cudaPointerGetAttributes(&known, reinterpret_cast<const void*>(host.matrix.ptr)),
            "cudaPointerGetAttributes");
    if (known.devicePointer == nullptr) return false;
    CornerCopy copy{};
    copy.lower = host.part == Part::Lower, copy.diagonal = host.diagonal;
    copy.element = host.matrix.elemsize;
    copy.source = reinterpret_cast<const void*>(job.device->matrix.ptr), copy.target = known.devicePointer;
    copy.source_column = job.device->matrix.ld * copy.element, copy.target_column = host.matrix.ld * copy.element;
    for (const auto& corner : job.pieces) {
      const auto* const at = reinterpret_cast<const std::byte*>(host.matrix.ptr);
      overwrites::before(at + offset(host.matrix, corner.i, corner.j),
                         at + offset(host.matrix, corner.i + corner.m, corner.j + corner.n - 1));
      copy.corners[copy.count++] = {corner.i, corner.j, corner.m, corner.n};
    }
    const std::lock_guard lock(mutex_);
    auto& [stream, copied] = stream_of(job.gpu);
    require(copy_corners(stream.get(), copy), "a copy of a triangle");
    require(cudaEventRecord(copied.get(), stream.get()), "cudaEventRecord");
    require(cudaStreamWaitEvent(job.stream, copied.get()), "cudaStreamWaitEvent");
    return true;
  }

 private:
  struct Stream {
    gpu::Stream stream;
    gpu::Event copied;
  };

  Stream& stream_of(int gpu) {
    auto& found = streams_[gpu];
    if (found.stream == nullptr) found = {gpu::create_urgent_stream(gpu), gpu::create_event(cudaEventDisableTiming)};
    return found;
  }

  std::mutex mutex_;
  std::map<int, Stream> streams_;  ///< by device; guarded by mutex_
};

static_assert(most_panels <= CornerCopy::most);

}  // namespace tessera::detail::staging
