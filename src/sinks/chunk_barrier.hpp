// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <vector>

#include "submit.hpp"

namespace tessera::sinks {

/// Lets the inputs of a chunk of a product wait until all processes have computed an earlier one. It consists of empty
/// tasks and of messages of one byte, which go up a tree of processes and down again, so that no thread waits.
class ChunkBarrier {
 public:
  /// @param ahead  inputs of chunk s wait for chunk s − ahead − 1
  /// @param count  chunks of the product
  ChunkBarrier(Submitter& submitter, Index ahead, Index count);
  ~ChunkBarrier();
  ChunkBarrier(const ChunkBarrier&) = delete;
  ChunkBarrier& operator=(const ChunkBarrier&) = delete;

  /// Holds back what later tasks and messages do with `inputs`.
  /// @param inputs  of the chunk that begins, with RW if this process has the tile, else with W
  void begin(std::vector<Access> inputs);
  /// Call this when the tasks of the chunk have been submitted.
  void end();

 private:
  /// Whether inputs of a later chunk wait for the present one.
  bool is_awaited() const noexcept { return chunk_ + ahead_ + 1 < count_; }
  starpu_data_handle_t& passed(Index chunk) { return passed_[static_cast<std::size_t>(chunk) % passed_.size()]; }

  Submitter& submitter_;
  detail::Processes& processes_;
  const Index ahead_, count_;
  Index chunk_ = 0;
  /// Each is written when all processes have computed a chunk. Those that inputs still wait for are different ones.
  std::vector<starpu_data_handle_t> passed_;
};

}  // namespace tessera::sinks
