// SPDX-License-Identifier: BSD-3-Clause
#include "memory_limits.hpp"

#include <algorithm>
#include <set>

namespace tessera::scheduler {

namespace {

/// Share of a GPU's memory for planned results, in percent. The rest is for their inputs. The share also holds if
/// several calls have plans at the same time.
constexpr int share_of_planned_results = 75;

std::size_t percent_of(std::size_t bytes, int percent) { return bytes / 100 * static_cast<std::size_t>(percent); }

}  // namespace

bool has_room_for_result(const State& state, const Worker& worker, const Task& task) {
  if (task.output == nullptr || state.chains.has_begun(task.output, worker.id)) return true;
  // The worker is idle: its incomplete results wait for other workers, so it may begin another one.
  if (worker.station.empty() && worker.popped.empty()) return true;
  const int share = state.chains.is_planned(task.output) ? std::max(state.options.results, share_of_planned_results)
                                                         : state.options.results;
  return state.chains.incomplete_bytes(worker.id) + task.output_memory <= percent_of(worker.memory, share);
}

std::size_t lookahead_limit(const State& state, const Worker& worker) {
  const auto results = std::min(worker.memory, state.chains.incomplete_bytes(worker.id));
  return percent_of(worker.memory - results, state.options.lookahead);
}

bool may_look_ahead(const State& state, const Worker& worker, const Task& task) {
  return worker.station.bytes() + worker.station.additional_bytes(task, state.cache, worker.node) / 2 <=
         lookahead_limit(state, worker);
}

bool all_fit(const State& state, const Worker& worker, const Task& task) {
  return state.results.tiles.size() * (task.memory / task.tiles.size()) <= worker.memory;
}

std::size_t distinct_memory(const Task& task) {
  std::set<TileId> counted;
  std::size_t bytes = 0;
  for (const auto& use : task.tiles)
    if (counted.insert(use.tile).second) bytes += use.memory;
  return bytes;
}

bool fits(const State& state, const Worker& worker, const Task& task) {
  return !state.cache.distributed() || worker.node == host_node || distinct_memory(task) <= worker.memory;
}

}  // namespace tessera::scheduler
