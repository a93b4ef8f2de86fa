// SPDX-License-Identifier: BSD-3-Clause
#include "duration_model.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace tessera::scheduler {

namespace {

int size_class(const Task& task) { return static_cast<int>(std::bit_width(task.memory)); }

}  // namespace

bool DurationModel::finished(const Task& task, int model, double seconds) {
  auto& recent = measured_[{task.codelet, task.implementation, model, size_class(task)}];
  if (!std::exchange(recent.warm, true)) return false;
  recent.last[recent.count++ % recent.last.size()] = seconds;
  auto sorted = recent.last;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(recent.count, sorted.size()));
  std::sort(sorted.begin(), end);
  recent.median = sorted[static_cast<std::size_t>(end - sorted.begin() - 1) / 2];  // the lower one: outliers are high
  return recent.count == 1;
}

double DurationModel::seconds(const Task& task, int model, int worker) const {
  // Without restrictions, all workers of a model run the same implementation.
  const auto implementation = task.restricted ? backend_.implementation(task.id, worker) : std::optional(0U);
  if (!implementation) return 0;
  const auto known = measured_.find({task.codelet, *implementation, model, size_class(task)});
  if (known != measured_.end() && known->second.count > 0) return known->second.median;
  return models_ ? backend_.modelled_seconds(task.id, worker) : 0;
}

bool DurationModel::are_alike(const Task& a, const Task& b) {
  return a.codelet == b.codelet && size_class(a) == size_class(b);
}

}  // namespace tessera::scheduler
