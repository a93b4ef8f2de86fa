// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

#include "tile/tile.hpp"

namespace tessera::plan {

/// A tile that is not registered yet is identified by its number, which takes the place of a handle.
inline starpu_data_handle_t as_handle(int tile) {
  return reinterpret_cast<starpu_data_handle_t>(static_cast<std::uintptr_t>(tile) + 1);
}
inline int as_tile(starpu_data_handle_t handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

/// The index of a tile, an operation or a GPU in a container with one entry for each.
constexpr std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// What determines the cost of copying a tile. A column is one contiguous piece of host memory [bytes].
struct TileSizes {
  double bytes, column;
  bool temporary = false;  ///< whether it exists only during the call, without memory of the caller
  int calls = 1;           ///< number of driver calls that start a copy
};

/// One tile operation, as it would be submitted.
struct Operation {
  int kind;  ///< index into Graph::kinds
  double flops;
  int owner;   ///< the GPU that the algorithm assigns it to
  int output;  ///< the tile that it writes
  bool reads_output;
  std::array<int, 3> inputs{-1, -1, -1};
  double products = 0;  ///< flops of its matrix products
};

/// The operations of a call in the order of submission.
struct Graph {
  std::vector<TileSizes> tiles;
  std::vector<Operation> operations;
  std::vector<std::string_view> kinds;        ///< names of operations
  std::vector<std::pair<int, int>> requests;  ///< tiles requested at the start, each with its GPU

  int add(TileSizes tile) { return tiles.push_back(tile), static_cast<int>(tiles.size()) - 1; }
  void clear() { tiles.clear(), operations.clear(), kinds.clear(), requests.clear(); }
};

/// A matrix without elements, of which only the extents are known, for rehearsals of algorithms.
class Outline {
 public:
  /// Adds the tiles of the matrix to a graph.
  /// @param triangle  whether only the lower triangle is used and copied
  Outline(Graph& graph, Index m, Index n, Index mb, Index nb, double element_size, bool triangle = false);

  Index m() const noexcept { return m_; }
  Index n() const noexcept { return n_; }
  Index mb() const noexcept { return mb_; }
  Index nb() const noexcept { return nb_; }
  Index mt() const noexcept { return mt_; }
  Index nt() const noexcept { return nt_; }
  Index tile_m(Index i) const noexcept { return i + 1 < mt_ ? mb_ : m_ - i * mb_; }
  Index tile_n(Index j) const noexcept { return j + 1 < nt_ ? nb_ : n_ - j * nb_; }
  starpu_data_handle_t handle(Index i, Index j) const noexcept {
    return as_handle(first_ + static_cast<int>(i + j * mt_));
  }

 private:
  Index m_, n_, mb_, nb_, mt_, nt_;
  int first_;
};

inline tile::Tile tile_of(const Outline& A, Index i, Index j, int owner, Op op = Op::NoTrans) {
  return {A.handle(i, j), nullptr, i, j, A.tile_m(i), A.tile_n(j), owner, op};
}

}  // namespace tessera::plan
