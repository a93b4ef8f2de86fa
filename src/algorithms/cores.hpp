// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include <tessera/types.hpp>

#include "machine/machine.hpp"
#include "product_order.hpp"

/// Parts of a result that CPU cores compute in parallel with the GPUs. Owner numbers count GPUs first, then cores.
namespace tessera::algorithms {

/// The core that owns part n, if parts are assigned round-robin.
inline int core_owner(Index n, const machine::Machine& machine) {
  return machine.gpu_count() + static_cast<int>(n % std::ssize(machine.sharing_cores));
}

/// Assigns the last tile columns of a matrix to the cores, round-robin. The columns are independent of each other, so
/// no core waits for another worker.
class CoreColumns {
 public:
  /// @param columns  total number of tile columns
  /// @param count    number of tile columns for cores
  /// @param machine  must outlive this object
  CoreColumns(Index columns, Index count, const machine::Machine& machine)
      : first_(columns - count), machine_(machine) {}

  Index first() const noexcept { return first_; }  ///< the first column for cores, or the number of columns

  /// The core that owns a column; -1 if the GPUs compute it.
  int of(Index column) const noexcept { return column < first_ ? -1 : core_owner(column - first_, machine_); }

 private:
  Index first_;
  const machine::Machine& machine_;
};

/// Assigns whole tiles of a result to the cores: the last ones in the order of submission. Each goes to the core with
/// the least work.
class CoreTiles {
 public:
  CoreTiles() = default;

  /// @param order  all steps of the result, which has `mt` rows of tiles
  /// @param count  number of tiles to assign to cores
  /// @param work   (i, j): of a tile
  template <typename Work>
  CoreTiles(const std::vector<Step>& order, Index mt, Index count, const machine::Machine& machine, Work work)
      : mt_(mt) {
    std::vector<Index> load(machine.sharing_cores.size());
    for (auto step = order.rbegin(); step != order.rend() && count > 0; ++step) {
      const auto tile = static_cast<std::size_t>(step->i + step->j * mt);
      if (tile >= owners_.size()) owners_.resize(tile + 1, -1);
      if (owners_[tile] >= 0) continue;
      count--;
      const auto core = std::ranges::min_element(load) - load.begin();
      load[static_cast<std::size_t>(core)] += work(step->i, step->j);
      owners_[tile] = core_owner(core, machine);
    }
  }

  /// The core that owns a step's tile; -1 if the GPUs compute it.
  int of(const Step& step) const {
    const auto tile = static_cast<std::size_t>(step.i + step.j * mt_);
    return tile < owners_.size() ? owners_[tile] : -1;
  }

 private:
  Index mt_ = 0;
  std::vector<int> owners_;  ///< by tile, column by column
};

}  // namespace tessera::algorithms
