// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/runtime.hpp>

#include "common/starpu_variables.hpp"
#include "machine/gpu.hpp"

namespace tessera::detail {

/// The GPUs of this session, those of CUDA first. OpenCL devices are asked only if they are wanted, or if CUDA has
/// none.
/// @throws ArgumentError if more of a kind are wanted than there are, or more than both numbers allow;
///                       `require_devices` checks whether there are as many as `gpus` says
gpu::Probe find_gpus(const RuntimeOptions& options);

/// Divides what tiles may use of a GPU among those that take it.
void share_memory(gpu::Info& gpu, int sharers);

/// Halves what tiles may use of each GPU that CUDA drives and that may be an OpenCL device of this session as well.
void share_memory_of_twins(std::vector<gpu::Info>& gpus);

/// The error of a session for which StarPU lacks packaging/starpu/patches/opencl-beside-cuda.patch.
inline constexpr const char* starpu_leaves_out_opencl =
    "this StarPU drives no OpenCL device whose number is that of a GPU of CUDA: use one that ./run has built";

/// The part of a GPU's memory that is used by default.
inline constexpr double share_of_memory = 0.9;

/// Whether the user has limited the memory of a kind of GPU, by our option or by StarPU's.
bool is_limited(Index memory, bool opencl);

/// StarPU takes the memory that it may use on each GPU from nowhere else than the environment.
/// @param memory     [MiB]; 0: most of what is free, if the user has not told StarPU
/// @param variables  get the limits
void limit_memory(const std::vector<gpu::Info>& gpus, Index memory, StarpuVariables& variables);

}  // namespace tessera::detail
