// SPDX-License-Identifier: BSD-3-Clause
// How cores run operations, alone or beside GPUs.
#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "rehearsal.hpp"

namespace tessera::plan {

/// All CPU workers use the host's memory, so nothing is copied. A free one takes the ready operation that was submitted
/// first.
Forecast Rehearsal::run_on_cores(double limit) {
  using End = std::pair<double, int>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  auto& ready = of(0).ready;
  auto& busy = of(0).busy;
  int free = machine_.cpu_workers;
  while (submitted_ < pending_.size() || !running.empty()) {
    const double submits = submitted_ < pending_.size()
                               ? machine_.runtime.begin + machine_.runtime.submit * static_cast<double>(submitted_)
                               : never;
    if (running.empty() || submits <= running.top().first) {
      now_ = std::max(now_, submits);
      submit_next();
    } else {
      const auto [end, number] = running.top();
      running.pop();
      if (end > limit) return {};
      now_ = end, free++, finished_++;
      release_followers(number);
    }
    for (; free > 0 && !ready.empty(); free--) {
      std::ranges::pop_heap(ready, std::greater<>());
      const double takes = seconds(operation(ready.back()), 0);
      running.emplace(now_ + machine_.runtime.push + takes, ready.back());
      busy += takes / machine_.cpu_workers;
      ready.pop_back();
    }
  }
  return forecast(now_);
}

/// Counts an operation that a core computes beside the GPUs.
void Rehearsal::add_core(const Operation& operation) {
  const auto core = index(graph_.core_of(operation));
  if (core >= cores_.size()) cores_.resize(core + 1);
}

double Rehearsal::core_seconds(const Operation& operation) const {
  const double narrow = graph_.tiles[index(operation.output)].narrow,
               lost = narrow > 0 ? machine_.lost_on_cores / narrow : 0;
  return (1 + lost) *
         machine_.core.task_seconds(graph_.kinds[index(operation.kind)], operation.work(), machine_.element_size);
}

/// When the host has all tiles that an operation reads, as far as is known.
double Rehearsal::complete_on_host(const Operation& operation) const {
  double last = 0;
  for_each_read(operation, [&](int tile) { last = std::max(last, host_[index(tile)]); });
  return last;
}

/// Copies the tiles that an operation reads to the host, if only GPUs have them.
void Rehearsal::bring_to_host(const Operation& operation) {
  for_each_read(operation, [&](int tile) {
    if (host_[index(tile)] < never) return;
    for (int gpu = 0; gpu < gpus_; gpu++)
      if (is_on(tile, gpu)) return copy_to_host(tile, gpu, std::max(now_, at(tile, gpu)));
  });
}

/// A free core takes the first ready operation whose tiles the host has, among the first few. Without any, it waits for
/// the tiles of the first one.
void Rehearsal::begin_on(CoreState& core) {
  auto& ready = core.ready;
  std::array<int, window> sorted{};
  const std::span first(sorted.begin(), std::ranges::partial_sort_copy(ready, sorted).out);
  const auto complete =
      std::ranges::find_if(first, [&](int number) { return complete_on_host(operation(number)) <= now_; });
  core.running = complete != first.end() ? *complete : first.front();
  std::erase(ready, core.running);
  std::ranges::make_heap(ready, std::greater<>());
  const auto& begun = operation(core.running);
  bring_to_host(begun);
  core.busy_until = std::max(now_, complete_on_host(begun)) + machine_.runtime.push + core_seconds(begun);
}

void Rehearsal::begin_on_cores() {
  for (auto& core : cores_)
    if (core.running < 0 && !core.ready.empty()) begin_on(core);
}

void Rehearsal::end_on(CoreState& core) {
  const int number = std::exchange(core.running, -1);
  finished_++, finished_on_cores_++;
  for_each_output(operation(number), [&](int tile) {
    for (int gpu = 0; gpu < gpus_; gpu++) drop(tile, gpu);
    host_[index(tile)] = now_, writes_left_[index(tile)]--;
  });
  release_followers(number);
}

}  // namespace tessera::plan
