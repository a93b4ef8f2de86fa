// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace graphs {

/// The size parameters of all graphs.
struct Size {
  int tiles;      ///< number of tiles in a row or column of a matrix
  int tile;       ///< order of a tile [elements]
  unsigned seed;  ///< for graphs with a random order
};

/// A graph of tasks.
struct Graph {
  std::string name, text;
  void (*run)(const Size& size);  ///< submits all tasks, waits, and copies the results to the host
};

const std::vector<Graph>& all();

}  // namespace graphs
