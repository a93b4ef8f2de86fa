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

/// What the policy knows of one worker.
struct Worker {
  int id = 0;              ///< StarPU's number
  bool present = true;     ///< in the context. A worker that left is kept, since its thread may be asking for a task
  unsigned node = 0;       ///< the memory node where it computes
  std::size_t memory = 0;  ///< the size of that memory [bytes]; 0: not known yet
  int kind = 0;            ///< CPU workers: 0
  int model = 0;           ///< the kind of the first worker with such a device: what is measured of one holds for all
  std::string device;      ///< its name and memory; empty: not known

  ReadyQueue bound;            ///< ready tasks whose home it is
  ReservationStation station;  ///< the tasks that it will run next
  /// A task that the worker has popped and not finished.
  struct Popped {
    TaskPtr task;
    std::vector<TileId> awaited;  ///< tiles that had to be fetched when the task was popped
    bool large = false;           ///< see `ReservationStation::Slot`
    bool started = false;
  };
  std::vector<Popped> popped;

  std::atomic<bool> asleep = false;  ///< it found no task when it last looked, and has not been woken since
  bool waits = false;                ///< it has reserved tasks, but none that it can start. Set by `set_waits`
  Polling polling;                   ///< used by its own thread, without the policy's lock

  // Times by StarPU's clock [s].
  double started = 0;          ///< when its last task started; 0: none has
  double idle_since = 0;       ///< 0: it runs a task, or has had nothing to do yet
  double postpones_until = 0;  ///< until when `next_task` postpones tasks; 0: it does not
  bool idle_for_data = false;  ///< it had work when `idle_since` was set

  std::size_t backlog() const { return bound.size() + station.size(); }
  bool runs() const { return std::ranges::any_of(popped, &Popped::started); }
  bool has_work() const { return !popped.empty() || !station.empty(); }
  /// Whether it has a task whose tiles occupy more than half of its memory. If two such workers copied tiles from each
  /// other, each could hold what the other must evict to make room. Until the last such task has run, only one of these
  /// workers fetches at a time, and none of them prefetches or steals.
  bool has_large_task() const {
    return std::ranges::any_of(popped, &Popped::large) ||
           std::ranges::any_of(station.slots(), &ReservationStation::Slot::large);
  }
};

}  // namespace tessera::scheduler
