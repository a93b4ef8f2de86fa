// SPDX-License-Identifier: BSD-3-Clause
#include "pace.hpp"

#include <starpu_scheduler.h>

#include <bit>
#include <cmath>

#include "ready_task.hpp"

namespace tessera::scheduler {

Pace::Key Pace::key(starpu_task* task, int kind) { return {task->cl, kind, std::bit_width(bytes_of(task))}; }

void Pace::finished(starpu_task* task, int kind, double seconds) {
  constexpr double weight = 0.25;  // of the last one: about ten tasks count
  const auto [entry, first] = measured_.try_emplace(key(task, kind));
  if (first) return;
  auto& average = entry->second;
  average.seconds += (average.warm ? weight : 1) * (seconds - average.seconds);
  average.warm = true;
}

double Pace::seconds(starpu_task* task, int kind, int worker, unsigned context) const {
  const auto known = measured_.find(key(task, kind));
  if (known != measured_.end() && known->second.warm) return known->second.seconds;
  if (task->cl->model == nullptr) return 0;
  unsigned implementation = 0;
  if (starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker), task, &implementation) == 0) return 0;
  const double microseconds =
      starpu_task_worker_expected_length(task, static_cast<unsigned>(worker), context, implementation);
  return std::isfinite(microseconds) && microseconds > 0 ? 1e-6 * microseconds : 0;
}

}  // namespace tessera::scheduler
