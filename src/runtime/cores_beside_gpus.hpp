// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/runtime.hpp>

#include "machine/machine.hpp"

namespace tessera::detail {

/// What the cores do in a session with GPUs.
struct CoresBesideGpus {
  int workers = 1;          ///< CPU workers; a single one runs the program's own tasks only
  std::string reason = {};  ///< one sentence
};

/// Decides whether the cores compute tiles beside the GPUs, by the rates that are known before StarPU starts.
///
/// They do if all of them together have 3 % of the rate of the GPUs in double or in single precision. Beside GPUs of
/// CUDA, the user must also ask for CPU workers, because those that find no task slow down the threads that drive such
/// GPUs.
/// @param machine  with its GPUs, before StarPU starts
CoresBesideGpus cores_beside_gpus(const Machine& machine, const RuntimeOptions& options);

}  // namespace tessera::detail
