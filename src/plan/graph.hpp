// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

#include "machine/machine.hpp"
#include "machine_model.hpp"
#include "tile/extents.hpp"
#include "tile/stored.hpp"
#include "tile/tile.hpp"

namespace tessera::plan {

/// A tile that is not registered yet is identified by its number, which takes the place of a handle.
inline starpu_data_handle_t as_handle(int tile) { return tile::Stored::numbered(tile); }
inline int as_tile(starpu_data_handle_t handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

/// The index of a tile, an operation or a GPU in a container with one entry for each.
constexpr std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// What determines the cost of copying a tile. A column is one contiguous piece of host memory [bytes].
struct TileSizes {
  double bytes, column;
  /// Distance between the starts of two columns.
  double apart = std::numeric_limits<double>::infinity();
  double narrow = 0;                   ///< rows or columns, whichever are fewer; 0: not known
  bool temporary = false;              ///< whether it exists only during the call, without memory of the caller
  int calls = 1;                       ///< number of driver calls that start a copy
  int calls_home = 0;                  ///< additional driver calls if a copy from GPU to GPU ends at its home
  int home = machine::in_host_memory;  ///< the memory where the tile is at the start, or a GPU's index
  bool returns = true;                 ///< whether a result is copied back to `home`
};

/// One tile operation, as it would be submitted.
struct Operation {
  int kind;  ///< index into Graph::kinds
  double flops;
  int owner;   ///< the GPU or core that the algorithm assigns it to
  int output;  ///< the tile that it writes, or the first one
  bool reads_output;
  std::array<int, 3> inputs{-1, -1, -1};
  double products = 0;     ///< flops of its matrix products, as far as these are counted separately
  double order = 0;        ///< see TaskWork
  PanelWork panel = {};    ///< of an operation on a panel
  int first = 0, end = 0;  ///< its further tiles, in Graph::further
  int wanted_next = -1;    ///< a tile that its GPU fetches afterwards, if its link is idle; -1: none

  TaskWork work() const { return {flops, products, order, panel}; }
};

/// A tile of an operation on more tiles than `Operation` has room for.
struct FurtherTile {
  int tile;
  bool writes, reads;
};

/// The operations of a call in the order of submission.
struct Graph {
  std::vector<TileSizes> tiles;
  std::vector<Operation> operations;
  std::vector<FurtherTile> further;           ///< of operations on panels
  std::vector<std::string_view> kinds;        ///< names of operations
  std::vector<std::pair<int, int>> requests;  ///< tiles requested at the start, each with its GPU
  bool far = false;                           ///< whether the operands' columns are far apart, see calls.hpp
  int operands = machine::in_host_memory;     ///< where the operands are, as in machine::Machine
  int gpus = 1;                               ///< of the session; larger owners are cores, see `core_of`
  tile::OwnerGrid owners{1, 1};               ///< owners of the operands' tiles, if they are on their owners

  int add(TileSizes tile) { return tiles.push_back(tile), static_cast<int>(tiles.size()) - 1; }
  int add_temporary(double bytes) { return add({.bytes = bytes, .column = bytes, .temporary = true}); }
  void clear() { tiles.clear(), operations.clear(), further.clear(), kinds.clear(), requests.clear(); }
  /// The core that computes an operation beside the GPUs; -1: a GPU does.
  int core_of(const Operation& operation) const { return std::max(operation.owner - gpus, -1); }
  std::span<const FurtherTile> further_of(const Operation& operation) const {
    return std::span(further).subspan(index(operation.first), index(operation.end - operation.first));
  }
};

/// The outline of a matrix, for rehearsals of algorithms.
class Outline : public tile::Stored {
 public:
  /// Adds the tiles of the matrix to a graph.
  /// @param triangle  whether only the lower triangle is used and copied
  Outline(Graph& graph, const tile::Edges& rows, const tile::Edges& columns, char type, bool triangle = false);
  Outline(Graph& graph, Index m, Index n, Index mb, Index nb, char type, bool triangle = false)
      : Outline(graph, {m, mb}, {n, nb}, type, triangle) {}
};

}  // namespace tessera::plan
