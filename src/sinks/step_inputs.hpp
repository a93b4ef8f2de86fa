// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "chunk_barrier.hpp"
#include "submit.hpp"

namespace tessera::sinks {

/// The tiles of other processes that each step of a solve reads, if they are held back: they are sent once all
/// processes have computed an earlier step, and are discarded after their step, or a later one. A process thus holds
/// copies for few steps.
class StepInputs {
 public:
  /// @param steps  number of steps
  /// @param turns  number of steps in which every process sends something. Their inputs are sent at the same time, as
  ///               far as they fit, but those of at least four steps. A process then holds copies for uses - 1 more
  /// @param fits   for how much of all copies a process has memory; 1: for all
  /// @param uses   number of steps, from its own, that read the tiles of a step
  StepInputs(Submitter& submitter, Index steps, Index turns, double fits, Index uses = 1)
      : exchange_(submitter.exchange()), barrier_(submitter, sent_at_once(steps, turns, fits, uses) - 1, steps),
        uses_(uses) {}

  bool is_mine(starpu_data_handle_t tile) const { return exchange_.is_mine(tile); }
  /// Adds a tile that the next step reads.
  /// @param is_read  whether this process reads it
  void add(starpu_data_handle_t tile, bool is_read) {
    if (is_mine(tile)) tiles_.push_back({tile, STARPU_RW});
    else add_result(tile, is_read);
  }
  /// Adds a tile that its owner computes in the next step. @param is_read  whether this process reads it
  void add_result(starpu_data_handle_t tile, bool is_read) {
    if (!is_mine(tile) && is_read) tiles_.push_back({tile, STARPU_W});
  }
  /// Call these before and after the tasks of a step are submitted.
  void begin() { barrier_.begin(tiles_); }
  void end() {
    barrier_.end();
    used_.push_back(std::exchange(tiles_, {}));
    if (std::ssize(used_) == uses_) forget_first();
  }
  /// Discards all tiles. The next step may add them again.
  void forget_all() {
    while (!used_.empty()) forget_first();
  }

 private:
  static Index sent_at_once(Index steps, Index turns, double fits, Index uses) {
    constexpr Index least = 4;
    // The first steps of a triangle need up to twice the mean.
    const double most = fits / 2 * static_cast<double>(steps) - static_cast<double>(uses - 1);
    return std::max(least, most < static_cast<double>(turns) ? static_cast<Index>(most) : turns);
  }

  void forget_first() {
    for (const auto& tile : used_.front()) exchange_.forget(tile.handle);
    used_.pop_front();
  }

  Exchange& exchange_;
  ChunkBarrier barrier_;
  const Index uses_;
  std::vector<Access> tiles_;             ///< of the next step, or of the current one
  std::deque<std::vector<Access>> used_;  ///< of earlier steps, not yet discarded
};

}  // namespace tessera::sinks
