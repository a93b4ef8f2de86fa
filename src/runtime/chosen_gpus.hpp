// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/runtime.hpp>

#include "common/starpu_variables.hpp"
#include "devices/gpu.hpp"

namespace tessera::runtime {

/// The GPUs of this session, CUDA GPUs first. OpenCL devices are probed only if the user asks for them or there are no
/// CUDA GPUs.
/// @throws ArgumentError if there are fewer devices of a kind than the user asks for, or if `gpus` exceeds the sum of
///         `cuda` and `opencl`. `require_devices` checks whether there are `gpus` devices in total
device::gpu::Probe find_gpus(const RuntimeOptions& options);

/// Divides the tile memory of a GPU among the processes that use it.
void share_memory(device::gpu::Info& gpu, int sharers);

/// Halves the tile memory of each CUDA GPU that may also be an OpenCL device of this session.
void share_memory_of_twins(std::vector<device::gpu::Info>& gpus);

/// The error if the session needs packaging/starpu/patches/opencl-beside-cuda.patch and StarPU lacks it.
inline constexpr const char* starpu_leaves_out_opencl =
    "this StarPU skips OpenCL devices that have the number of a CUDA GPU: use the StarPU that ./run builds";

/// The share of a GPU's memory that is used by default.
inline constexpr double share_of_memory = 0.9;

/// Whether the user has limited the memory of a kind of GPU, by Tessera's option or by StarPU's variable.
bool is_limited(Index memory, bool opencl);

/// Limits the memory that StarPU may use on each GPU. StarPU takes these limits only from the environment.
/// @param memory     [MiB]; 0: most of the free memory, unless the user has set StarPU's variable
/// @param variables  receive the limits
void limit_memory(const std::vector<device::gpu::Info>& gpus, Index memory, common::StarpuVariables& variables);

}  // namespace tessera::runtime
