// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

/// Memory of GPUs that CUDA drives, which the host cannot access. CUDA's driver is asked only if the process has loaded
/// it, so that this works without CUDA as well. A cl_mem of OpenCL looks like any pointer, and cannot be told.
namespace tessera::detail::device_memory {

/// How thoroughly to look for CUDA's driver while it has not been found.
enum class Look {
  Always,  ///< takes a lock
  Seldom,  ///< in one of 64 calls of the thread, including the first; for calls that are shorter than the look
};

/// Whether CUDA's driver is loaded.
bool may_exist(Look look = Look::Always) noexcept;

/// What CUDA's driver knows of memory that it has allocated on a GPU, or for all of them.
struct Allocated {
  int gpu;       ///< CUDA's number
  bool managed;  ///< the host and all GPUs can access it
};
/// Empty: the memory is neither, or there is no driver; see `may_exist`. Looks the address up once.
std::optional<Allocated> allocated(const void* data) noexcept;

/// CUDA's number of the GPU whose memory this is. Empty if the host can access it, as pinned and managed memory.
std::optional<int> gpu_of(const void* data) noexcept;

/// The bytes from an address in memory of a GPU to the end of what was allocated there. If the driver does not know, as
/// for memory that was mapped piece by piece: no limit.
std::size_t bytes_from(const void* data) noexcept;

/// The pool of cudaMallocAsync that memory of a GPU comes from, as a cudaMemPool_t; null: it comes from none.
void* pool_of(const void* data) noexcept;

/// What a message says of a pointer to such memory, after its name, and what is allowed.
inline std::string problem(const std::string& allowed = "must be in host memory or in managed memory") {
  return "points to memory of a GPU, " + allowed;
}

}  // namespace tessera::detail::device_memory
