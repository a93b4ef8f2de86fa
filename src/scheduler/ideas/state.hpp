// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/sched.h>

#include "backend.hpp"
#include "chains.hpp"
#include "duration_model.hpp"
#include "fetching.hpp"
#include "options.hpp"
#include "pointer_map.hpp"
#include "ready_queue.hpp"
#include "tile_cache.hpp"
#include "worker.hpp"
#include "writing_back.hpp"

namespace tessera::scheduler {

/// All that the policy knows in one scheduling context. The ideas are functions over it. The policy calls them under
/// its lock.
struct State {
  /// @param worker_numbers  numbers of workers are smaller than this
  State(const Options& the_options, std::size_t worker_numbers, Backend& the_backend)
      : options(the_options), backend(the_backend), workers(worker_numbers), chains(backend, worker_numbers) {}

  Options options;
  Backend& backend;

  std::vector<std::unique_ptr<Worker>> workers;   ///< by number; null: never was in this context
  std::vector<Worker*> members;                   ///< the workers that are in the context now
  std::vector<std::vector<const Worker*>> kinds;  ///< the members of each kind

  /// Ready tasks without a home. There is one queue for each set of workers that can execute its tasks, so that no
  /// worker has to look through tasks that it cannot execute.
  std::map<std::pair<Kinds, std::vector<int>>, ReadyQueue> shared;
  std::size_t shared_tasks = 0;

  TileCache cache{backend};
  Chains chains;
  Results results;
  AbandonedTiles abandoned;
  DurationModel durations{backend};
  PointerMap<TaskId, unsigned long> order;  ///< of submission, for the tasks that are not finished
  unsigned long submitted = 0;
  std::atomic<std::size_t> waiting = 0;  ///< tasks in all queues and reservation stations; read without the lock

  int large_fetcher = no_worker;  ///< the worker with a large task that fetches now; see `Worker::has_large_task`
  int waiting_workers = 0;        ///< how many workers have `Worker::waits` set
  Kinds declined_for = 0;         ///< kinds that tasks have been left or given back to. Those that sleep must be woken
  double looked_around = 0;       ///< when `look_around` last did [s]
  tessera_sched_counts counts{};
};

/// The worker of a number, or null if it never was in the context.
inline Worker* find_worker(const State& state, int id) { return state.workers[static_cast<std::size_t>(id)].get(); }

/// The predicted time of a task on a worker [s]; 0: not known.
inline double predicted_seconds(const State& state, const Worker& worker, const Task& task) {
  return state.durations.seconds(task, worker.model, worker.id);
}

bool can_execute(const Worker& worker, const Task& task);

/// Whether the tiles of a task occupy more than half of a worker's memory.
inline bool is_large(const State& state, const Worker& worker, const Task& task) {
  return state.cache.distributed() && task.memory > worker.memory / 2;
}

}  // namespace tessera::scheduler
