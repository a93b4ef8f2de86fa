// SPDX-License-Identifier: BSD-3-Clause
#include "ending.hpp"

#include <algorithm>

namespace tessera::scheduler {

double seconds_until_free(const State& state, const Worker& worker) {
  double seconds = 0;
  for (const auto& popped : worker.popped) {
    const double whole = predicted_seconds(state, worker, *popped.task);
    seconds += popped.started > 0 ? std::max(0.0, whole - (state.now - popped.started)) : whole;
  }
  return seconds;
}

double seconds_until_ended(const State& state, const Worker& worker, const Task& task) {
  double seconds = seconds_until_free(state, worker) + predicted_seconds(state, worker, task);
  if (state.cache.distributed()) seconds += state.cache.seconds_to_move(task, worker.node);
  for (const auto& slot : worker.station.slots())
    if (RunsBefore{}(*slot.task, task)) seconds += predicted_seconds(state, worker, *slot.task);
  for (const auto& queued : worker.bound.tasks()) {
    if (!RunsBefore{}(*queued, task)) break;
    seconds += predicted_seconds(state, worker, *queued);
  }
  return seconds;
}

}  // namespace tessera::scheduler
