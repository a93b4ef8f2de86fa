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
  std::optional<Memory> memory;   ///< empty: pinned if there are GPUs, otherwise pageable

  void settle(Memory chosen) {
    memory = chosen;
    for (auto& problem : problems) problem.memory = chosen;
  }
};

}  // namespace tessera::bench
