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

/// A tile that does not exist yet. Its number takes the place of its handle.
inline starpu_data_handle_t as_handle(int tile) {
  return reinterpret_cast<starpu_data_handle_t>(static_cast<std::uintptr_t>(tile) + 1);
}
inline int as_tile(starpu_data_handle_t handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

/// The place of a tile, an operation or a GPU in what has one entry for each.
constexpr std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// What copies of a tile take: bytes, and bytes of a column, which is one piece of host memory.
struct TileSizes {
  double bytes, column;
  bool temporary = false;  ///< whether it has no memory of the caller
  int calls = 1;           ///< of the driver, that begin a copy
};

/// One tile operation, as it would be submitted.
struct Operation {
  int kind;  ///< an index into Graph::kinds
  double flops;
  int owner;   ///< the GPU that is to run it
  int output;  ///< the tile that it writes
  bool reads_output;
  std::array<int, 3> inputs{-1, -1, -1};
  double products = 0;  ///< the flops of it that are products
};

/// The operations of a call in the order of submission.
struct Graph {
  std::vector<TileSizes> tiles;
  std::vector<Operation> operations;
  std::vector<std::string_view> kinds;        ///< names of operations
  std::vector<std::pair<int, int>> requests;  ///< tiles that are requested at the start, and the GPU of each

  int add(TileSizes tile) { return tiles.push_back(tile), static_cast<int>(tiles.size()) - 1; }
  void clear() { tiles.clear(), operations.clear(), kinds.clear(), requests.clear(); }
};

/// A matrix of which nothing is known but its extents, for algorithms that are rehearsed.
class Outline {
 public:
  /// Adds its tiles to a graph.
  /// @param triangle  only its lower triangle is used, and the part of a tile outside it is not copied
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
