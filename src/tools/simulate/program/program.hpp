// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulate/simulation.hpp"

namespace tessera::simulate {

/// Replaces this process by the program of `--program`, which writes its Outcome as JSON to `result`.
[[noreturn]] void become_program(const Options& options, const Run& run, const Scratch& scratch, int result);

}  // namespace tessera::simulate
