// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <vector>

#include "chunk_barrier.hpp"
#include "submit.hpp"

namespace tessera::sinks {

/// The tiles that each step of a solve reads, if they are held back: they are sent once all processes have computed an
/// earlier step, and are discarded after their step. A process thus holds copies for few steps.
class StepInputs {
 public:
  /// The number of steps whose inputs may be sent ahead of the current one. Copies for `ahead` + 1 steps are thus held.
  static constexpr Index ahead = 3;

  /// @param steps  number of steps
  StepInputs(Submitter& submitter, Index steps) : exchange_(submitter.exchange()), barrier_(submitter, ahead, steps) {}

  bool is_mine(starpu_data_handle_t tile) const { return exchange_.is_mine(tile); }
  /// Adds a tile that the next step reads.
  /// @param is_read  whether this process reads it
  void add(starpu_data_handle_t tile, bool is_read) {
    if (is_mine(tile)) tiles_.push_back({tile, STARPU_RW});
    else if (is_read) tiles_.push_back({tile, STARPU_W});
  }
  /// Call these before and after the tasks of a step are submitted.
  void begin() { barrier_.begin(tiles_); }
  void end() {
    barrier_.end();
    for (const auto& tile : tiles_) exchange_.forget(tile.handle);
    tiles_.clear();
  }

 private:
  Exchange& exchange_;
  ChunkBarrier barrier_;
  std::vector<Access> tiles_;
};

}  // namespace tessera::sinks
