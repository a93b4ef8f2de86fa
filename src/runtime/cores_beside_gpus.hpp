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
/// They do where all of them have 3 % of the rate of the GPUs in double or in single precision, but beside GPUs of CUDA
/// only if the user asks for CPU workers: those that find no task slow down the threads that drive such GPUs, by up to
/// a third with 60 of them beside four H200.
/// @param machine  with its GPUs, before StarPU starts
CoresBesideGpus cores_beside_gpus(const Machine& machine, const RuntimeOptions& options);

}  // namespace tessera::detail
