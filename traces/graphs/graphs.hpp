// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <string>
#include <vector>

namespace graphs {

/// Tells the policy that no later task uses a tile.
using Hint = void (*)(starpu_data_handle_t tile);

/// The parameters of all graphs.
struct Size {
  int tiles;      ///< number of tiles in a row or column of a matrix
  int tile;       ///< order of a tile [elements]
  unsigned seed;  ///< for graphs with a random order
  Hint wont_use;  ///< called after the last task of each tile; null: no hints
};

/// A graph of tasks.
struct Graph {
  std::string name, text;
  void (*run)(const Size& size);  ///< submits all tasks, waits, and copies the results to the host
};

const std::vector<Graph>& all();

}  // namespace graphs
