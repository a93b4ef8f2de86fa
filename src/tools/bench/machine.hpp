// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "gpu.hpp"

namespace tessera::bench {

/// What there is to run on, found before anything runs.
struct Machine {
  int cores = 1;                  ///< that this process may use
  int blas_threads = 1;           ///< that the host BLAS uses by itself
  double free_memory = 0;         ///< bytes, the smallest of what the system and the control group say
  std::vector<gpu::Info> gpus;    ///< those that answer
  std::string why_not_more_gpus;  ///< "" if there are no others

  /// CUDA ordinals of the first `count`.
  std::vector<int> ordinals(int count) const;
};

/// @param look_for_gpus  creates a context on each of them
Machine look_at_machine(bool look_for_gpus);

}  // namespace tessera::bench
