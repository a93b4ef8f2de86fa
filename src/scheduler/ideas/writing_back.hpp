// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "pointer_map.hpp"
#include "task.hpp"

/// When results are written back to the host.
///
/// A result is complete when no submitted task writes it. It is then written back at once, so that few are left to copy
/// when the last task ends. But once the host has it, StarPU copies it from there to every GPU that has no peer with
/// the result. So a result that tasks will still read waits until each group of peers has it or is getting it, if the
/// link can bring it to the host later.
namespace tessera::scheduler {

struct State;
struct Worker;

/// A tile that unfinished tasks use.
struct Result {
  std::size_t unfinished = 0;  ///< tasks that use it
  std::size_t writers = 0;     ///< those of them that write it
  unsigned node = host_node;   ///< the memory of the GPU that wrote it last; the host's: nothing to write back
  std::size_t waiting = 0;     ///< its bytes, if it is complete and waits
};

struct Results {
  PointerMap<TileId, Result> tiles;
  std::vector<std::size_t> waiting;  ///< results that wait, by memory node [bytes]
  double task_seconds = 0;           ///< how long tasks have taken on GPUs lately [s]
};

/// A task has been submitted.
void note_uses(State& state, const std::vector<TileUse>& tiles);

/// A GPU has executed a task.
void note_duration(State& state, double seconds);

/// A task has ended.
/// @param node  the memory where it was executed
/// @returns those of its tiles that should be written back now
std::vector<TileId> results_of_ended(State& state, const std::vector<TileUse>& tiles, unsigned node);

/// Tiles have been requested for tasks that a worker has reserved.
/// @returns those of them that should be written back now
std::vector<TileId> results_of_requested(State& state, const Worker& worker);

}  // namespace tessera::scheduler
