// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/runtime.hpp>

#include "machine/machine.hpp"

namespace tessera::runtime {

/// The role of the CPU cores in a session with GPUs.
struct CoresBesideGpus {
  int workers = 1;          ///< CPU workers; a single one runs only the program's own tasks
  std::string reason = {};  ///< a sentence for the user
};

/// Decides, from the rates known before StarPU starts, whether CPU cores compute tiles alongside the GPUs.
///
/// They do if the cores that drive no GPU reach at least 3 % of the GPUs' rate in double or in single precision. If
/// there are CUDA GPUs, the user must also ask for CPU workers, because idle CPU workers slow down the threads that
/// drive these GPUs.
/// @param machine  the machine with its GPUs
CoresBesideGpus cores_beside_gpus(const machine::Machine& machine, const RuntimeOptions& options);

}  // namespace tessera::runtime
