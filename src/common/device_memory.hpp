// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Memory of GPUs that CUDA drives, as the host sees it: an access ends the program. CUDA's driver is asked only if the
/// process has loaded it, so that this works without CUDA as well. A cl_mem of OpenCL looks like any pointer, and
/// cannot be told.
namespace tessera::detail::device_memory {

/// What a message says of a pointer to such memory, after its name.
inline constexpr const char* problem =
    "points to memory of a GPU, which is not supported yet: must be in host memory or in managed memory";

/// How thoroughly to look for CUDA's driver, as long as it has not been found.
enum class Look {
  Always,  ///< takes a lock
  Seldom,  ///< in one of 64 calls of the thread, among them the first one: for calls that are shorter than that
};

/// Whether CUDA's driver is loaded.
bool may_exist(Look look = Look::Always) noexcept;

/// Whether the host cannot access the memory, since it is a GPU's alone. Pinned and managed memory is not. Looks the
/// address up once.
/// @return false if there is no driver; see `may_exist`
bool contains(const void* data) noexcept;

}  // namespace tessera::detail::device_memory
