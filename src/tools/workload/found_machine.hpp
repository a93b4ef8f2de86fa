// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "devices/gpu.hpp"

namespace tessera::bench {

/// The devices and the memory that this process can use, found before anything runs.
struct Machine {
  int cores = 1;                        ///< cores that this process may use
  int blas_threads = 1;                 ///< threads that the host BLAS uses by default
  double free_memory = 0;               ///< bytes; the minimum of what the system and the control group report
  std::vector<device::gpu::Info> gpus;  ///< the GPUs that respond
  std::string why_not_more_gpus;        ///< "" if all GPUs respond

  /// CUDA ordinals of the first `count` GPUs, or numbers of the OpenCL devices.
  std::vector<int> ordinals(int count, bool opencl = false) const;
  /// Whether CUDA drives a GPU.
  bool has_cuda() const { return !ordinals(static_cast<int>(gpus.size())).empty(); }
  /// The first `count` GPUs by number and name: "2 x A and 1 x B".
  std::string names(int count) const;
};

/// @param look_for_gpus  creates a CUDA context on each GPU
Machine look_at_machine(bool look_for_gpus);

}  // namespace tessera::bench
