// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/types.hpp>

#include "region.hpp"
#include "session.hpp"
#include "tile_grid.hpp"
#include "tile_size.hpp"

namespace tessera::unroll {

/// Which GPU computes which tile of an mt×nt result, as an index from 0.
///
/// All of a matrix is dealt out to a grid of GPUs as to a chessboard. Of a triangle that would give some of them more
/// tiles than others, and those on the diagonal are less work: there, who has had his share is passed over.
class Owners {
 public:
  /// Nobody owns anything: the scheduling policy decides.
  Owners() = default;

  /// @param i0, j0  row and column of the first tile on the chessboard
  Owners(detail::OwnerGrid grid, Index mt, Index nt, Region region, Index i0 = 0, Index j0 = 0)
      : grid_(grid), mt_(mt), i0_(i0), j0_(j0), exists_(true) {
    if (region.part == Part::All || grid.size() == 1) return;
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

  bool exist() const noexcept { return exists_; }
  detail::OwnerGrid grid() const noexcept { return grid_; }

  /// The owner of tile (i, j), or -1.
  int of(Index i, Index j) const {
    if (!exists_) return -1;
    return table_.empty() ? chessboard(i, j) : table_[static_cast<std::size_t>(i + j * mt_)];
  }

  /// Which of the `count` terms of its sum an owner adds at place s. A tile of an input is wanted by all owners of a
  /// row or a column of the grid. Of each few terms that follow one another, each of these begins with another one: so
  /// each of them brings one from the host at a time, and the others find it on a peer right after. In a triangle all
  /// owners may want a tile; there, those that begin with the same term share what they fetch for it.
  Index term(Index i, Index j, Index s, Index count) const {
    if (!exists_) return s;
    const int owner = of(i, j);
    const Index sharers = std::max(grid_.p, grid_.q), turn = (owner / grid_.q + owner % grid_.q) % sharers;
    const Index last_group = std::max<Index>(1, count / sharers) - 1, group = std::min(s / sharers, last_group);
    const Index first = group * sharers, few = group < last_group ? sharers : count - first;
    return first + (s - first + turn) % few;
  }

 private:
  int chessboard(Index i, Index j) const {
    return static_cast<int>((i0_ + i) % grid_.p * grid_.q + (j0_ + j) % grid_.q);
  }

  detail::OwnerGrid grid_;
  Index mt_ = 0, i0_ = 0, j0_ = 0;
  bool exists_ = false;
  std::vector<int> table_;  ///< by tile, for a triangle
};

/// The owners of the tiles of a result as it is stored, if the session has such.
template <Scalar T>
Owners owners(const detail::Session& session, const Matrix<T>& C, Region region) {
  using detail::MatrixAccess;
  if (!session.has_owners()) return {};
  return {detail::owner_grid(session.gpu_count()),
          C.mt(),
          C.nt(),
          region,
          MatrixAccess::first_row(C),
          MatrixAccess::first_column(C)};
}

}  // namespace tessera::unroll
