// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "pointer_map.hpp"
#include "task.hpp"

/// When results are written back to the host, or to the memory node that is their home.
///
/// A result is complete when no submitted task writes it any more. It is normally written back at once, so that few
/// results are left to copy when the last task ends. But once the host has a result, StarPU copies it from there to
/// every GPU that has no peer with the result. A result that tasks will still read therefore waits until each group of
/// peers has it or is receiving it, provided that the link can still bring it to the host in time.
namespace tessera::scheduler {

struct State;
struct Worker;

/// The unfinished tasks that write a tile, in the order of submission, and the first of the tasks that read what they
/// wrote.
class Writers {
 public:
  void add(unsigned long order) { entries_.push_back({order, 0}); }
  /// Adds a task that only reads the tile.
  void add_reader(unsigned long order) {
    if (first_ < entries_.size() && entries_.back().reader == 0) entries_.back().reader = order;
  }
  /// Removes the first task.
  void end_first();

  /// The first task that reads the tile after a writer and does not write it; 0: none has been submitted, or very many
  /// writers precede it. Tasks are given by their positions in the order of submission.
  unsigned long first_reader(unsigned long writer) const;
  /// The first task that uses the tile after a writer; 0: none has been submitted.
  unsigned long next_use(unsigned long writer) const;
  /// The number of writers between two positions in the order of submission.
  std::size_t count(unsigned long from, unsigned long to) const;

 private:
  struct Entry {
    unsigned long order;
    unsigned long reader;  ///< first task that reads the tile before the next writer; 0: none
  };
  std::vector<Entry>::const_iterator find(unsigned long order) const;

  std::vector<Entry> entries_;
  std::size_t first_ = 0;  ///< entries before this one have ended
};

/// A tile that unfinished tasks use.
struct Result {
  std::size_t unfinished = 0;  ///< number of tasks that use it
  std::size_t writers = 0;     ///< number of these tasks that write it
  unsigned node = host_node;   ///< the memory of the GPU that wrote it last; the host: nothing is left to write back
  std::size_t waiting = 0;     ///< its bytes, if it is complete and waiting
  Writers pending = {};        ///< the unfinished writers in order
  std::size_t coupled = 0;     ///< number of unfinished writers that write other tiles, too
  bool is_result = false;      ///< whether one of the tasks that have used it since it was unused writes it

  /// Whether unfinished tasks read the tile and do not write it.
  bool has_readers() const { return unfinished > writers; }
};

struct Results {
  PointerMap<TileId, Result> tiles;
  std::vector<std::size_t> waiting;  ///< waiting results, by memory node [bytes]
  double task_seconds = 0;           ///< recent average duration of tasks on GPUs [s]
};

/// Whether other unfinished tasks read the result of a task.
bool has_readers(const State& state, const Task& task);

/// Whether unfinished tasks of other chains probably wait for the chain of a task: they read its result, or the task or
/// a later one of the chain writes other tiles, too.
bool feeds_other_chains(const State& state, const Task& task);

/// Whether a task reads no results except its own, which no other task reads. Then its chain probably waits for
/// nothing, and nothing waits for its chain, as in a product.
bool is_independent(const State& state, const Task& task);

/// Records the uses of tiles by a submitted task.
void note_uses(State& state, const std::vector<TileUse>& tiles);

/// Adds the duration of a task that a GPU has executed to the average.
void note_duration(State& state, double seconds);

/// Updates `Results` after a task has ended.
/// @param node  the memory where the task was executed
/// @returns  the tiles of the task that should be written back now
std::vector<TileId> results_of_ended(State& state, const std::vector<TileUse>& tiles, unsigned node);

/// Updates `Results` after tiles have been requested for the tasks that a worker has reserved.
/// @returns  the requested tiles that should be written back now
std::vector<TileId> results_of_requested(State& state, const Worker& worker);

}  // namespace tessera::scheduler
