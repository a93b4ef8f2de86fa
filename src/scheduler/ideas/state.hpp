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
#include "positions.hpp"
#include "ready_queue.hpp"
#include "tile_cache.hpp"
#include "worker.hpp"
#include "writing_back.hpp"

namespace tessera::scheduler {

/// A task that has been submitted and has not ended.
struct Submitted {
  unsigned long order = 0;  ///< position in the order of submission
  double flops = 0;         ///< according to the program; 0: unknown
};

/// The complete state of the policy in one scheduling context. The ideas are functions on it. The policy calls them
/// under its lock.
struct State {
  /// @param worker_numbers  exclusive upper bound of the worker numbers
  State(const Options& the_options, std::size_t worker_numbers, Backend& the_backend)
      : options(the_options), backend(the_backend), workers(worker_numbers), chains(backend, worker_numbers) {}

  Options options;
  Backend& backend;
  bool workers_poll = false;  ///< whether workers that got no task look again without having been woken

  std::vector<std::unique_ptr<Worker>> workers;   ///< by number; null: was never in this context
  std::vector<Worker*> members;                   ///< the workers now in the context
  std::vector<std::vector<const Worker*>> kinds;  ///< the members of each kind

  /// Ready tasks without a home. There is one queue for each set of workers that can execute its tasks, so workers
  /// never look through tasks that they cannot execute.
  std::map<std::pair<Kinds, std::vector<int>>, ReadyQueue> shared;
  std::size_t shared_tasks = 0;

  TileCache cache{backend};
  Chains chains;
  Results results;
  AbandonedTiles abandoned;
  DurationModel durations{backend, options.models};
  PointerMap<TaskId, Submitted> unfinished;
  Positions unfinished_positions;
  double unfinished_flops = 0;  ///< of these tasks
  std::size_t silent = 0;       ///< number of these tasks without flops
  unsigned long submitted = 0;
  bool is_in_order = true;  ///< whether priorities have not risen since the last time that no task was unfinished
  int last_priority = 0;    ///< of the task that was submitted last
  std::atomic<std::size_t> waiting = 0;  ///< tasks in all queues and stations; read without the lock

  int large_fetcher = no_worker;  ///< the worker with a large task that is now fetching; see `Worker::has_large_task`
  int waiting_workers = 0;        ///< number of workers with `Worker::waits` set
  Kinds declined_for = 0;         ///< kinds to which tasks have been left or given back; their sleeping workers must be
                                  ///< woken
  double now = 0;                 ///< when a worker last asked for a task or ended one [s]
  double gpu_seconds = 0;         ///< total duration of the tasks that GPUs have run [s]
  double measuring_seconds = 0;   ///< total duration of the tasks with which cores measured new kinds of tasks [s]
  double looked_around = 0;       ///< when `look_around` last worked [s]
  tessera_sched_counts counts{};
};

/// The worker with this number, or null if it was never in the context.
inline Worker* find_worker(const State& state, int id) { return state.workers[static_cast<std::size_t>(id)].get(); }

/// The predicted duration of a task on a worker [s]; 0: unknown.
inline double predicted_seconds(const State& state, const Worker& worker, const Task& task) {
  return state.durations.seconds(task, worker.model, worker.id);
}

bool can_execute(const Worker& worker, const Task& task);

/// Whether the tiles of a task occupy more than half of a worker's memory.
inline bool is_large(const State& state, const Worker& worker, const Task& task) {
  return state.cache.distributed() && task.memory > worker.memory / 2;
}

}  // namespace tessera::scheduler
