// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "workload/routines.hpp"

namespace tessera::bench {

/// The routines and problems to run: every routine with every problem that it supports.
struct ChosenProblems {
  std::vector<const Routine*> routines;
  std::vector<Problem> problems;  ///< types × sizes; a routine may not support all of them
  std::optional<bool> pinned;     ///< nothing: pinned if there are GPUs
  bool on_gpu = false;            ///< the operands are in the memory of the first GPU

  const char* memory() const { return on_gpu ? "device" : *pinned ? "pinned" : "pageable"; }
};

}  // namespace tessera::bench
