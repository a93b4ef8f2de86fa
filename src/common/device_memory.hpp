// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Detects memory of GPUs driven by CUDA, which the host must not access: an access ends the program. CUDA's driver is
/// asked only if the process has loaded it, so this also works without CUDA. A cl_mem of OpenCL looks like any pointer,
/// and cannot be detected.
namespace tessera::detail::device_memory {

/// Completes a message about a pointer to such memory.
inline constexpr const char* problem =
    "points to memory of a GPU, which is not supported yet: must be in host memory or in managed memory";

/// How thoroughly to look for CUDA's driver while it has not been found.
enum class Look {
  Always,  ///< takes a lock
  Seldom,  ///< in one of 64 calls of the thread, including the first; for calls that are shorter than the look
};

/// Whether CUDA's driver is loaded.
bool may_exist(Look look = Look::Always) noexcept;

/// Whether the memory belongs to a GPU alone, so the host cannot access it. Pinned and managed memory does not. Costs
/// one lookup of the address.
/// @return  false if there is no driver; see `may_exist`
bool contains(const void* data) noexcept;

}  // namespace tessera::detail::device_memory
