// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "pivot_tiles.hpp"

namespace tessera::algorithms {

/// An upper bound of the number of elements that change rows: each pivot moves at most two rows.
inline double elements_moved(double pivots, Index columns) { return 2 * pivots * static_cast<double>(columns); }

/// Tasks that exchange rows according to the pivots of a factorization. Each task changes one column of tiles.
template <typename Sink>
class RowExchanges {
 public:
  RowExchanges(Sink& sink, PivotHandles pivots) : sink_(sink), pivots_(std::move(pivots)) {}

  /// Exchanges rows of column j of X according to the pivots of panels [begin, end).
  void exchange(const tile::Stored& X, Index j, Index begin, Index end, int owner) {
    if (begin < end) submit(X, j, {begin, 1}, end - begin, owner);
  }
  /// Undoes the exchanges of all pivots.
  void exchange_back(const tile::Stored& X, Index j, int owner) {
    if (pivots_.panels() > 0) submit(X, j, {pivots_.panels() - 1, -1}, pivots_.panels(), owner);
  }

 private:
  struct Walk {
    Index begin, step;
  };
  void submit(const tile::Stored& X, Index j, Walk walk, Index count, int owner) {
    const Index upper = std::min(walk.begin, walk.begin + (count - 1) * walk.step);
    const Index top = X.mt() == 1 ? 0 : upper * pivots_.panel() / X.mb();  // the first tile with rows that move
    std::vector<tile::Access> accesses;
    for (Index i = top; i < X.mt(); i++) accesses.push_back({X.handle(i, j), STARPU_RW});
    for (Index i = 0; i < count; i++) accesses.push_back({pivots_.handle(walk.begin + i * walk.step), STARPU_R});
    sink_.step(walk.begin);
    const double elements = elements_moved(static_cast<double>(count * pivots_.panel()), X.tile_n(j));
    const codelets::LaswpArgs args{{.flops = elements, .type = X.type(), .moved = elements},
                                   static_cast<int>(walk.begin * pivots_.panel() - top * X.mb()),
                                   static_cast<int>(walk.step * pivots_.panel()),
                                   static_cast<int>(X.mt() - top),
                                   walk.step < 0};
    sink_.submit(codelets::laswp(X.type()), std::span<const tile::Access>(accesses), args, owner);
  }

  Sink& sink_;
  PivotHandles pivots_;
};

/// Exchanges rows in all columns of X according to all pivots, or undoes these exchanges.
/// @param gpus  number of GPUs that own the columns round-robin; 0: none
template <typename Sink>
void laswp(RowExchanges<Sink>& to, const tile::Stored& X, Index panels, bool back, int gpus) {
  for (Index j = 0; j < X.nt(); j++) {
    const int owner = gpus > 0 ? static_cast<int>(j % gpus) : -1;
    if (back) to.exchange_back(X, j, owner);
    else to.exchange(X, j, 0, panels, owner);
  }
}

}  // namespace tessera::algorithms
