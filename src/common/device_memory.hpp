// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

/// Finds out about memory of GPUs that CUDA drives, which the host cannot access. Asks CUDA's driver only if the
/// process has loaded it, so this works without CUDA as well. For a cl_mem, see
/// device::opencl::is_buffer.
namespace tessera::common::device_memory {

/// Whether CUDA's driver is loaded. Until then, each call asks the loader whether it has loaded a library since the
/// last call. This takes a lock of the loader, but less time than the smallest product.
bool may_exist() noexcept;

/// What CUDA's driver knows about memory on a GPU, or about managed memory.
struct Allocated {
  int gpu;       ///< CUDA's number
  bool managed;  ///< the host and all GPUs can access it
};
/// Asks the driver about an address. Empty if it is in neither kind of memory, or if there is no driver; see
/// `may_exist`.
std::optional<Allocated> allocated(const void* data) noexcept;

/// CUDA's number of the GPU whose memory this is. Empty if the host can access the memory, for example if it is pinned
/// or managed.
std::optional<int> gpu_of(const void* data) noexcept;

inline constexpr std::size_t unlimited = -1;

/// The bytes from an address in GPU memory to the end of its allocation. Where memory is mapped to the addresses in
/// pieces, to the end of the last piece before a gap or before memory of another GPU. `unlimited` if the driver
/// does not know.
/// @param wanted  pieces that begin after so many bytes are not looked at
std::size_t bytes_from(const void* data, std::size_t wanted) noexcept;

/// The pool of cudaMallocAsync from which GPU memory comes, as a cudaMemPool_t; null if it comes from none.
void* pool_of(const void* data) noexcept;

/// Whether both addresses are in the same memory that CUDA has allocated or pinned at once. Also true if the driver
/// knows neither.
/// @pre  `may_exist`
bool are_in_one_range(const void* a, const void* b) noexcept;

/// The part of an error message that follows the name of a pointer to such memory, and says what is allowed.
inline std::string problem(const std::string& allowed = "must be in host memory or in managed memory") {
  return "points to memory of a GPU, " + allowed;
}

}  // namespace tessera::common::device_memory
