// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iterator>
#include <vector>

#include <tessera/types.hpp>

#include "machine/machine.hpp"
#include "product_order.hpp"

/// The parts of a result that cores compute beside the GPUs. As owners, GPUs are counted first, then cores.
namespace tessera::algorithms {

/// The owner of the nth of the parts that are dealt out among the cores.
inline int core_owner(Index n, const detail::Machine& machine) {
  return machine.gpu_count() + static_cast<int>(n % std::ssize(machine.sharing_cores));
}

/// Assigns the last tile columns of a matrix to the cores, one after another. Columns are independent, so no core waits
/// for another worker.
class CoreColumns {
 public:
  /// @param columns  all tile columns
  /// @param count    of these, columns for cores
  /// @param machine  must outlive this
  CoreColumns(Index columns, Index count, const detail::Machine& machine)
      : first_(columns - count), machine_(machine) {}

  Index first() const noexcept { return first_; }  ///< the first column for cores, or the number of all columns

  /// The owner of a column; -1: it is left to the GPUs.
  int of(Index column) const noexcept { return column < first_ ? -1 : core_owner(column - first_, machine_); }

 private:
  Index first_;
  const detail::Machine& machine_;
};

/// Assigns tiles of a result to the cores: the tiles that the GPUs would compute last, each whole, dealt out.
class CoreTiles {
 public:
  CoreTiles() = default;

  /// @param order  all steps of the result, which has `mt` rows of tiles
  /// @param count  tiles for cores
  CoreTiles(const std::vector<Step>& order, Index mt, Index count, const detail::Machine& machine) : mt_(mt) {
    if (count == 0) return;
    for (auto step = order.rbegin(); step != order.rend() && count > 0; ++step) {
      const auto tile = static_cast<std::size_t>(step->i + step->j * mt);
      if (tile >= owners_.size()) owners_.resize(tile + 1, -1);
      if (owners_[tile] >= 0) continue;
      count--;
      owners_[tile] = core_owner(count, machine);
    }
  }

  /// The owner of the tile of a step; -1: it is left to the GPUs.
  int of(const Step& step) const {
    const auto tile = static_cast<std::size_t>(step.i + step.j * mt_);
    return tile < owners_.size() ? owners_[tile] : -1;
  }

 private:
  Index mt_ = 0;
  std::vector<int> owners_;  ///< by tile, column by column
};

}  // namespace tessera::algorithms
