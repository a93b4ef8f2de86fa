// SPDX-License-Identifier: BSD-3-Clause
#include "duration_model.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::scheduler {

namespace {

int size_class(const Task& task) { return static_cast<int>(std::bit_width(task.memory)); }

}  // namespace

std::size_t DurationModel::finished(const Task& task, int model, double seconds) {
  auto& recent = measured_[{task.codelet, task.implementation, model, size_class(task)}];
  recent.flops = flops_of(task);
  if (!std::exchange(recent.warm, true)) {
    recent.first = seconds;
    return 1;
  }
  recent.last[recent.count++ % recent.last.size()] = seconds;
  auto sorted = recent.last;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(recent.count, sorted.size()));
  std::sort(sorted.begin(), end);
  recent.median = sorted[static_cast<std::size_t>(end - sorted.begin() - 1) / 2];  // the lower one: outliers are high
  return 1 + recent.count;
}

std::optional<DurationModel::Key> DurationModel::key_of(const Task& task, int model, int worker) const {
  // Without restrictions, all workers of a model run the same implementation.
  const auto implementation = task.restricted ? backend_.implementation(task.id, worker) : std::optional(0U);
  if (!implementation) return std::nullopt;
  return Key{task.codelet, *implementation, model, size_class(task)};
}

double DurationModel::seconds(const Task& task, int model, int worker) const {
  const auto key = key_of(task, model, worker);
  if (!key) return 0;
  const auto known = measured_.find(*key);
  if (known != measured_.end() && known->second.count > 0) return known->second.median;
  return models_ ? backend_.modelled_seconds(task.id, worker) : 0;
}

double DurationModel::first(const Task& task, int model, int worker) const {
  const auto key = key_of(task, model, worker);
  const auto known = key ? measured_.find(*key) : measured_.end();
  return known != measured_.end() ? known->second.first : 0;
}

double DurationModel::at_lowest_rate(const Task& task, int model) const {
  double longest = 0;
  for (const auto& [key, recent] : measured_)
    if (std::get<2>(key) == model && recent.count > 0 && recent.flops > 0 && recent.flops >= flops_of(task) / 64)
      longest = std::max(longest, flops_of(task) * recent.median / recent.flops);
  return longest;
}

bool DurationModel::are_alike(const Task& a, const Task& b) {
  return a.codelet == b.codelet && size_class(a) == size_class(b);
}

}  // namespace tessera::scheduler
