// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <vector>

#include "common/not_copyable.hpp"
#include "submit.hpp"

namespace tessera::sinks {

/// Delays the inputs of a chunk of a product until all processes have computed an earlier chunk. It uses empty tasks,
/// and one-byte messages that go up and down a tree of processes, so no thread waits.
class ChunkBarrier : common::NotCopyable {
 public:
  /// @param ahead  inputs of chunk s wait for chunk s − ahead − 1
  /// @param count  number of chunks of the product
  ChunkBarrier(Submitter& submitter, Index ahead, Index count);
  ~ChunkBarrier();

  /// Holds back later tasks and messages that use `inputs`.
  /// @param inputs  the inputs of the new chunk, with RW if this process has the tile, otherwise with W
  void begin(std::vector<Access> inputs);
  /// Call this when the tasks of the chunk have been submitted.
  void end();

 private:
  /// Whether inputs of a later chunk wait for the current chunk.
  bool is_awaited() const noexcept { return chunk_ + ahead_ + 1 < count_; }
  starpu_data_handle_t& passed(Index chunk) { return passed_[static_cast<std::size_t>(chunk) % passed_.size()]; }

  Submitter& submitter_;
  tile::Processes& processes_;
  const Index ahead_, count_;
  Index chunk_ = 0;
  /// Handles that are written when all processes have computed a chunk. Chunks that inputs wait for have different
  /// handles.
  std::vector<starpu_data_handle_t> passed_;
};

}  // namespace tessera::sinks
