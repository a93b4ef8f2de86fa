// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/series.hpp"

namespace tessera::trace {

namespace {

struct Change {
  double time;
  int by;
};

Series sum(std::vector<Change> changes) {
  std::ranges::sort(changes, {}, &Change::time);
  Series series{{0}, {0}};
  int count = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const double time = changes[i].time;
    for (; i < changes.size() && changes[i].time == time; ++i) count += changes[i].by;
    if (count == series.count.back()) continue;
    if (time > series.time.back()) series.time.push_back(time), series.count.push_back(count);
    else series.count.back() = count;
  }
  return series;
}

}  // namespace

Series ready_tasks(const Lookups& lookups) {
  std::vector<Change> changes;
  for (const auto& task : lookups.run.tasks) {
    const bool started = lookups.started(task);
    if (started) changes.insert(changes.end(), {{lookups.ready(task), 1}, {lookups.start(task), -1}});
    else if (const double ready = std::max(task.submitted, task.ready); ready < lookups.run.span)
      changes.push_back({ready, 1});
  }
  return sum(std::move(changes));
}

Series running_tasks(const Lookups& lookups) {
  std::vector<Change> changes;
  for (const auto& task : lookups.run.tasks)
    if (lookups.started(task)) changes.insert(changes.end(), {{lookups.start(task), 1}, {lookups.end(task), -1}});
  return sum(std::move(changes));
}

int least_between(const Series& series, double begin, double end) {
  const auto after = std::ranges::upper_bound(series.time, begin) - series.time.begin();
  int least = after > 0 ? series.count[after - 1] : 0;
  for (auto i = static_cast<std::size_t>(after); i < series.time.size() && series.time[i] < end; ++i)
    least = std::min(least, series.count[i]);
  return least;
}

}  // namespace tessera::trace
