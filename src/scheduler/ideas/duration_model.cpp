// SPDX-License-Identifier: BSD-3-Clause
#include "duration_model.hpp"

#include <bit>

namespace tessera::scheduler {

DurationModel::Key DurationModel::key(const Task& task, int model) {
  return {task.codelet, model, static_cast<int>(std::bit_width(task.memory))};
}

void DurationModel::finished(const Task& task, int model, double seconds) {
  constexpr double weight = 0.25;  // of a new measurement: the average covers about ten tasks
  const auto [entry, first] = measured_.try_emplace(key(task, model));
  if (first) return;
  auto& average = entry->second;
  average.seconds += (average.warm ? weight : 1) * (seconds - average.seconds);
  average.warm = true;
}

double DurationModel::seconds(const Task& task, int model, int worker) const {
  const auto known = measured_.find(key(task, model));
  return known != measured_.end() && known->second.warm ? known->second.seconds
                                                        : backend_.modelled_seconds(task.id, worker);
}

}  // namespace tessera::scheduler
