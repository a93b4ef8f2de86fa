// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "routines.hpp"

namespace tessera::bench {

/// What is computed: every routine with every problem for which it exists.
struct ChosenProblems {
  std::vector<const Routine*> routines;
  std::vector<Problem> problems;  ///< types × sizes; not every routine exists for each of them
  std::optional<bool> pinned;     ///< default: if there are GPUs
};

}  // namespace tessera::bench
