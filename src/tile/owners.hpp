// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include <tessera/types.hpp>

#include "runtime/session.hpp"
#include "stored.hpp"
#include "tile/extents.hpp"
#include "tile/region.hpp"

namespace tessera::tile {

/// Assigns each tile of an mt×nt result to its owner, the GPU that computes it, as an index from 0.
///
/// A full matrix is distributed block-cyclically in two dimensions over a grid of GPUs. For a triangle, this
/// distribution would be unbalanced: GPUs get unequal numbers of tiles, and diagonal tiles are less work. In a
/// triangle, a GPU that already has its share of the work is therefore skipped, and the tile goes to the GPU with the
/// least work so far.
class Owners {
 public:
  /// Assigns no owners: the scheduling policy decides.
  Owners() = default;

  /// @param i0, j0     row and column of the first tile in the cyclic distribution, for a view into a larger matrix
  /// @param processes  the grid of processes over which the matrix is distributed first; each process distributes its
  ///                   tiles over its GPUs
  Owners(tile::OwnerGrid grid, Index mt, Index nt, Region region, Index i0 = 0, Index j0 = 0,
         tile::OwnerGrid processes = {1, 1})
      : grid_(grid), processes_(processes), mt_(mt), i0_(i0), j0_(j0), exists_(true) {
    if (region.part == Part::All || grid.size() == 1 || processes.size() > 1) return;
    table_.assign(static_cast<std::size_t>(mt * nt), 0);
    Index total = 0;
    for (Index j = 0; j < nt; j++)
      for (Index i = 0; i < mt; i++) total += region.work(i, j);
    std::vector<Index> load(static_cast<std::size_t>(grid.size()));
    for (Index j = 0; j < nt; j++)
      for (Index i = 0; i < mt; i++) {
        if (!region.contains(i, j)) continue;
        auto owner = static_cast<std::size_t>(chessboard(i, j));
        if ((load[owner] + region.work(i, j)) * grid.size() > total)
          owner = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
        load[owner] += region.work(i, j);
        table_[static_cast<std::size_t>(i + j * mt)] = static_cast<int>(owner);
      }
  }

  /// Assigns the tiles that begin at row or column `first`, in tiles, or later to the cores that share results with the
  /// GPUs: the tiles of each such row and of the column with the same number to one core, round-robin.
  void leave_to_cores(Index first, const machine::Machine& machine) {
    of_cores_ = {first, machine.gpu_count(), std::ssize(machine.sharing_cores)};
  }

  bool exist() const noexcept { return exists_; }
  tile::OwnerGrid grid() const noexcept { return grid_; }
  /// The number of tile rows and columns after which the owners repeat, including the processes.
  tile::OwnerGrid period() const noexcept { return {grid_.p * processes_.p, grid_.q * processes_.q}; }

  /// The owner of tile (i, j), or -1 if it has none.
  int of(Index i, Index j) const {
    if (!exists_) return -1;
    if (const Index line = std::max(i, j) - of_cores_.first; of_cores_.count > 0 && line >= 0)
      return of_cores_.core + static_cast<int>(line % of_cores_.count);
    if (table_.empty()) return chessboard(i, j);
    const auto tile = static_cast<std::size_t>(i + j * mt_);
    return i < mt_ && tile < table_.size() ? table_[tile] : -1;
  }

  /// The term, in [0, count), that the owner of tile (i, j) adds at position s of its sum.
  ///
  /// All owners in a row or column of the grid need the same input tiles. The terms form groups of max(p, q)
  /// consecutive terms, and each of these owners starts a group at a different term. Each owner thus fetches a
  /// different tile from the host, and the others soon find it on a peer. In a triangle, any owner may need any tile,
  /// and owners that start at the same term share the tiles fetched for it. If the processes form a single row, a group
  /// has max(p, q) terms for each process, and each process begins with the terms whose inputs it owns, while the
  /// others arrive.
  Index term(Index i, Index j, Index s, Index count) const {
    if (!exists_) return s;
    const int owner = of(i, j), in_row = processes_.p == 1 ? processes_.q : 1;
    const Index on_gpus = std::max(grid_.p, grid_.q), sharers = on_gpus * in_row;
    const Index turn = (owner / grid_.q + owner % grid_.q) % on_gpus * in_row + (j0_ + j) % in_row;
    const Index last_group = std::max<Index>(1, count / sharers) - 1, group = std::min(s / sharers, last_group);
    const Index first = group * sharers, few = group < last_group ? sharers : count - first;
    return first + (s - first + turn) % few;
  }

 private:
  int chessboard(Index i, Index j) const {
    const Index row = (i0_ + i) / processes_.p, column = (j0_ + j) / processes_.q;
    return static_cast<int>(row % grid_.p * grid_.q + column % grid_.q);
  }

  tile::OwnerGrid grid_, processes_ = {1, 1};
  Index mt_ = 0, i0_ = 0, j0_ = 0;
  bool exists_ = false;
  struct {
    Index first = 0;  ///< tile row and column
    int core = 0;     ///< the number of the first core as an owner
    Index count = 0;  ///< of cores; 0: they own nothing
  } of_cores_;
  std::vector<int> table_;  ///< owner of each tile of a triangle, listed by columns; empty: cyclic
};

/// The owners of the tiles of a result as stored; none if the session assigns no owners.
/// @pre  the result is registered
/// @param last  of a triangle: number of the last tile rows and columns that no GPU owns
inline Owners owners(const detail::Session& session, tile::OwnerGrid grid, const Stored& C, Region region,
                     Index last = 0) {
  if (!session.machine().has_owners()) return {};
  const auto& share = C.grid().share();
  return {grid, C.mt() - last, C.nt() - last, region, C.first_row(), C.first_column(), {share.p, share.q}};
}

/// The same, but cores own the last tile rows and columns.
/// @param last  number of these rows, which is also that of the columns
inline Owners owners_with_cores(const detail::Session& session, tile::OwnerGrid grid, const Stored& C, Region region,
                                Index last) {
  auto all = owners(session, grid, C, region, last);
  if (last > 0) all.leave_to_cores(C.mt() - last, session.machine());
  return all;
}

}  // namespace tessera::tile
