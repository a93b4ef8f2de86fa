// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "ready_queue.hpp"
#include "reservation_station.hpp"

namespace tessera::scheduler {

inline std::size_t percent_of(std::size_t bytes, int percent) {
  return bytes / 100 * static_cast<std::size_t>(percent);
}

/// What the policy knows of one worker.
struct Worker {
  int id = 0;              ///< StarPU's number
  bool present = true;     ///< in the context; who has left it is kept: its thread may just be asking for a task
  unsigned node = 0;       ///< its memory,
  std::size_t memory = 0;  ///< and how large that is [bytes]; 0: not looked at yet
  int kind = 0;

  ReadyQueue bound;            ///< tasks whose chain it is home to
  ReservationStation station;  ///< what it will run next
  /// A task that it has taken and not finished.
  struct Given {
    const starpu_task* task;
    starpu_data_handle_t output;
    unsigned long order;
    std::vector<starpu_data_handle_t> awaited;  ///< its tiles that were to be fetched: they come before it starts
    bool wide;                                  ///< its tiles fill more than half of the worker's memory
    bool started = false;
  };
  std::vector<Given> given;

  std::atomic<bool> asleep = false;  ///< found nothing when it last asked
  bool waits = false;                ///< has reserved tasks, but none that it can start

  // Seconds by StarPU's clock.
  double started = 0;     ///< its last task; 0: none yet
  double expected = 0;    ///< how long that will take; 0: not known
  double idle_since = 0;  ///< 0: it is not idle, or had nothing to do yet
  bool idle_for_data = false;

  std::size_t backlog() const { return bound.size() + station.size(); }
  bool runs() const {
    return std::ranges::any_of(given, [](const Given& g) { return g.started; });
  }
  bool has_work() const { return !given.empty() || !station.empty(); }
  /// Whether it has a task that fills more than half of its memory. If two such workers copied tiles from each other,
  /// each could hold what the other one must give up to make room. Until the last such task is done, only one of them
  /// fetches at a time, none prefetches, and none steals.
  bool narrow() const {
    return std::ranges::any_of(given, &Given::wide) ||
           std::ranges::any_of(station.slots(), &ReservationStation::Slot::wide);
  }
};

}  // namespace tessera::scheduler
