// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <span>

#include "common/overwrites.hpp"
#include "corner_kernel.hpp"
#include "devices/partial_tile.hpp"
#include "resources.hpp"

/// Copies the corners of a triangle from a GPU to pinned memory, or to the memory of another GPU.
namespace tessera::device::staging {

/// Kernels that copy corners, on a separate high-priority stream per GPU. On an ordinary stream, a kernel would wait
/// for products that fill the GPU, and later copies would wait for the kernel.
class Corners {
 public:
  /// Starts to copy the corners of a tile, and makes `stream` wait for the copies. Several threads may call this at a
  /// time.
  /// @param gpu  runs the kernel
  /// @pre  `gpu` is the current device, and can access the source
  /// @return  whether a kernel copies the corners. If not, nothing has been done: there is no kernel for this GPU, the
  ///         GPU cannot access all of the target, or an address is not a multiple of 4
  /// @throws  the exceptions of gpu::require; then no kernel writes to the memory
  bool copy(const PartialTile& target, const PartialTile& source, std::span<const Rectangle> corners, int gpu,
            cudaStream_t stream) {
    CornerCopy copy{};
    copy.lower = target.part == Part::Lower, copy.diagonal = target.diagonal;
    copy.element = target.matrix.elemsize;
    copy.source = reinterpret_cast<const void*>(source.matrix.ptr);
    copy.source_column = source.matrix.ld * copy.element, copy.target_column = target.matrix.ld * copy.element;
    copy.target = seen_by_gpu(target, corners);
    if (copy.target == nullptr || !has_whole_words(copy)) return false;
    auto& device = device_of(gpu);
    const std::lock_guard lock(device.mutex);
    if (!device.has_kernels()) return false;
    for (const auto& corner : corners) {
      common::overwrites::before(begin_of(target, corner), end_of(target, corner));
      copy.corners[copy.count++] = {corner.i, corner.j, corner.m, corner.n};
    }
    gpu::require(copy_corners(device.stream.get(), copy), "a copy of a triangle");
    try {
      gpu::require(cudaEventRecord(device.copied.get(), device.stream.get()), "cudaEventRecord");
      gpu::require(cudaStreamWaitEvent(stream, device.copied.get()), "cudaStreamWaitEvent");
    } catch (...) {  // the caller releases the tile, so no kernel may write to it afterwards
      cudaStreamSynchronize(device.stream.get());
      throw;
    }
    return true;
  }

 private:
  struct Device {
    explicit Device(int gpu)
        : stream(gpu::create_urgent_stream(gpu)), copied(gpu::create_event(cudaEventDisableTiming)),
          found(find_corner_kernels()) {}
    bool has_kernels() const { return found == cudaSuccess; }

    std::mutex mutex;
    gpu::Stream stream;
    gpu::Event copied;
    cudaError_t found;  ///< an error if the library has no code for this GPU
  };

  Device& device_of(int gpu) {
    const std::lock_guard lock(mutex_);
    return devices_.try_emplace(gpu, gpu).first->second;
  }

  static const std::byte* begin_of(const PartialTile& target, const Rectangle& corner) {
    return reinterpret_cast<const std::byte*>(target.matrix.ptr) + offset(target.matrix, corner.i, corner.j);
  }
  static const std::byte* end_of(const PartialTile& target, const Rectangle& corner) {
    return reinterpret_cast<const std::byte*>(target.matrix.ptr) +
           offset(target.matrix, corner.i + corner.m, corner.j + corner.n - 1);
  }

  static const std::byte* seen_by_gpu(const std::byte* address) {
    cudaPointerAttributes known{};
    gpu::require(cudaPointerGetAttributes(&known, address), "cudaPointerGetAttributes");
    return static_cast<const std::byte*>(known.devicePointer);
  }
  /// The address of the tile on the GPU. Null if the GPU does not see all corners in one contiguous range, because the
  /// program has pinned only a part of its matrix, or two parts separately.
  static void* seen_by_gpu(const PartialTile& target, std::span<const Rectangle> corners) {
    const auto *const first = begin_of(target, corners.front()), *const last = end_of(target, corners.back()) - 1;
    const auto *const seen_first = seen_by_gpu(first), *const seen_last = seen_by_gpu(last);
    if (seen_first == nullptr || seen_last == nullptr || seen_last - seen_first != last - first) return nullptr;
    return const_cast<std::byte*>(seen_first - (first - reinterpret_cast<const std::byte*>(target.matrix.ptr)));
  }

  std::mutex mutex_;
  std::map<int, Device> devices_;  ///< guarded by mutex_, except the contents of a Device
};

static_assert(most_panels <= CornerCopy::most);

}  // namespace tessera::device::staging
