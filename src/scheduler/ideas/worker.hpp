// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "polling.hpp"
#include "ready_queue.hpp"
#include "reservation_station.hpp"

namespace tessera::scheduler {

/// The policy's view of a worker.
struct Worker {
  int id = 0;              ///< StarPU's number
  bool present = true;     ///< in the context; a worker that left is kept, because its thread may still be asking for a
                           ///< task
  unsigned node = 0;       ///< the memory node where it computes
  std::size_t memory = 0;  ///< the size of that memory [bytes]; 0: not yet known
  int kind = 0;            ///< 0 for all CPU workers
  int model = 0;           ///< the kind of the first worker with an identical device; all of them share measurements
  std::string device;      ///< its name and memory; empty: unknown

  ReadyQueue bound;            ///< ready tasks whose home is this worker
  ReservationStation station;  ///< the tasks that it will run next
  /// A task that the worker has popped and not finished.
  struct Popped {
    TaskPtr task;
    std::vector<TileId> awaited;  ///< tiles that had to be fetched when the task was popped
    bool large = false;           ///< see `ReservationStation::Slot`
    double started = 0;           ///< when it started, or when the task before it ended; 0: not yet
    bool was_known = false;       ///< whether its duration was known when it started
  };
  std::vector<Popped> popped;

  std::atomic<bool> asleep = false;  ///< it found no task when it last looked, and has not been woken since
  bool waits = false;                ///< it has reserved tasks, but none that it can start; set by `set_waits`
  Polling polling;                   ///< used by its own thread, without the policy's lock

  // Times of StarPU's clock [s].
  double started = 0;          ///< when its last task started; 0: never
  double idle_since = 0;       ///< 0: it is running a task, or has had nothing to do yet
  double postpones_until = 0;  ///< until when `next_task` postpones tasks; 0: not postponing
  bool idle_for_data = false;  ///< whether it had work when `idle_since` was set

  std::size_t backlog() const { return bound.size() + station.size(); }
  bool runs() const {
    return std::ranges::any_of(popped, [](const Popped& one) { return one.started > 0; });
  }
  bool has_work() const { return !popped.empty() || !station.empty(); }
  /// Whether it has a task whose tiles occupy more than half of its memory. If two such workers copied tiles from each
  /// other, each could hold tiles that the other one must evict to make room. Until the last such task has run, only
  /// one of these workers fetches at a time, and none of them prefetches or steals.
  bool has_large_task() const {
    return std::ranges::any_of(popped, &Popped::large) ||
           std::ranges::any_of(station.slots(), &ReservationStation::Slot::large);
  }
};

}  // namespace tessera::scheduler
