// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/types.hpp>

#include "machine/machine.hpp"
#include "order.hpp"
#include "owning_worker.hpp"

namespace tessera::unroll {

/// Assigns tiles of a result to the cores that share it with the GPUs: the tiles that the GPUs would compute last, each
/// whole, dealt out among the cores.
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

  /// The owner of the tile of a step: GPUs are counted first, then cores; -1: it is left to the GPUs.
  int of(const Step& step) const {
    const auto tile = static_cast<std::size_t>(step.i + step.j * mt_);
    return tile < owners_.size() ? owners_[tile] : -1;
  }

 private:
  Index mt_ = 0;
  std::vector<int> owners_;  ///< by tile, column by column
};

}  // namespace tessera::unroll
