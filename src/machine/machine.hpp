// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"

namespace tessera::plan {
struct Considered;
}

namespace tessera::machine {

/// Where the operands of a call are: the index of the GPU whose memory holds them all, or one of these constants.
/// `in_host_memory` means pinned memory.
inline constexpr int in_host_memory = -1, in_pageable_memory = -2, on_their_owners = -3;

/// The resources on which the calls of a session compute, as a plain value. Filled in once, after StarPU has started.
struct Machine {
  int cpu_workers = 0;
  std::vector<int> gpus;                      ///< CUDA ordinals, then StarPU's numbers of OpenCL devices
  int cuda_gpus = 0;                          ///< how many of these GPUs, counted from the first, use CUDA
  std::vector<std::vector<int>> gpu_workers;  ///< for each GPU, the StarPU workers that drive it
  /// Element n is a bit mask of the workers of the first n + 1 GPUs and of all cores, as StarPU needs it for calls that
  /// use only some GPUs.
  std::vector<std::vector<std::uint32_t>> first_workers;
  std::vector<device::gpu::Info> gpu_info;  ///< the usable GPUs; empty if the program has started StarPU
  bool gpus_alike = true;                   ///< whether all GPUs have the same name
  bool kinds_alike = true;                  ///< whether all CUDA GPUs have the same name, and all OpenCL devices
  /// The memory that a GPU has for tiles, by which tile sizes are chosen; the minimum if GPUs differ [bytes]. It is the
  /// limit that `TESSERA_GPU_MEMORY` or StarPU's variable sets or, without one, most of the GPU's total memory, even if
  /// other programs occupy up to half of it. 0 if there is no GPU, or its memory is unknown.
  double gpu_memory = 0;
  /// The StarPU workers of the CPU cores that may compute tiles alongside the GPUs; see `least_rate_of_cores`.
  std::vector<int> sharing_cores;
  bool has_core_for_waiting = false;  ///< whether a caller may busy-wait for GPUs on a core
  Placement placement = Placement::Scheduler;
  Index tile = 0;                  ///< the tile size that the user has asked for; 0: none
  std::optional<bool> even_edges;  ///< the user's choice for edges where tiles do not divide a product evenly
  /// Whether tiles in pageable memory are copied without occupying the threads that drive GPUs.
  bool posts_copies = false;
  int operands = in_host_memory;  ///< for a plan: where the operands are
  /// If not null, receives every candidate of a plan that can be rehearsed. This costs some time.
  std::vector<plan::Considered>* considered = nullptr;

  int gpu_count() const noexcept { return static_cast<int>(gpus.size()); }
  /// Whether a call may have to copy its operands.
  bool has_copies() const noexcept {
    return operands == in_host_memory || operands == in_pageable_memory || gpu_count() != 1;
  }
  bool has_cuda() const noexcept { return cuda_gpus > 0; }
  bool has_opencl() const noexcept { return cuda_gpus < gpu_count(); }
  bool is_opencl(int gpu) const noexcept { return gpu >= cuda_gpus && gpu < gpu_count(); }
  /// Whether each tile of a result is assigned to a GPU, either permanently or as a suggestion to the policy.
  bool has_owners() const noexcept { return placement == Placement::Owner || placement == Placement::Home; }
};

}  // namespace tessera::machine
