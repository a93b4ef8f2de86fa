// SPDX-License-Identifier: BSD-3-Clause
#include "writing_back.hpp"

#include <algorithm>
#include <iterator>

#include "state.hpp"

namespace tessera::scheduler {

namespace {

void set_waiting(Results& results, Result& result, std::size_t bytes) {
  if (results.waiting.size() <= result.node) results.waiting.resize(result.node + 1);
  results.waiting[result.node] += bytes - result.waiting;
  result.waiting = bytes;
}

bool writes_several(const std::vector<TileUse>& tiles) { return std::ranges::count_if(tiles, &TileUse::writes) > 1; }

bool is_far_from_a_gpu(const State& state, TileId tile) {
  return std::ranges::any_of(state.members, [&](const Worker* worker) {
    return worker->node != host_node && state.cache.level(tile, worker->node) == TileCache::Level::Far;
  });
}

/// Whether the results waiting in a memory can be written back later. They must be a small part of the memory, so that
/// StarPU mostly evicts tiles that the host already has. The link must also have the time to copy them before the
/// submitted tasks end.
bool can_wait(const State& state, unsigned node) {
  constexpr std::size_t least_memory = 20;  // memory size, as a multiple of the waiting bytes
  constexpr double least_time = 2;          // remaining time, in copy times: other copies need the link, too
  const auto bytes = state.results.waiting[node];
  const auto on_gpu = [](const Worker* worker) { return worker->node != host_node; };
  const auto owner = std::ranges::find(state.members, node, &Worker::node);
  if (owner == state.members.end() || bytes > (*owner)->memory / least_memory) return false;
  const double left = state.results.task_seconds * static_cast<double>(state.unfinished.size()) /
                      static_cast<double>(std::ranges::count_if(state.members, on_gpu));
  return least_time * state.cache.seconds_to_host(bytes, node) < left;
}

/// Whether to write a tile back now. After a yes, the answer is no until the tile is written again.
bool write_back_now(State& state, TileId tile, std::size_t bytes, Result& result) {
  if (!state.options.write_back || result.writers > 0 || result.node == host_node) return false;
  set_waiting(state.results, result, bytes);
  if (result.unfinished > 0 && can_wait(state, result.node) && is_far_from_a_gpu(state, tile)) return false;
  set_waiting(state.results, result, 0);
  result.node = host_node;
  return true;
}

}  // namespace

void Writers::end_first() {
  if (first_ < entries_.size()) first_++;
  constexpr std::size_t few = 16;  // moving the others costs little, or is rare
  if (first_ < entries_.size() && (first_ < few || 2 * first_ < entries_.size())) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

std::vector<Writers::Entry>::const_iterator Writers::find(unsigned long order) const {
  return std::ranges::lower_bound(entries_.begin() + static_cast<std::ptrdiff_t>(first_), entries_.end(), order, {},
                                  &Entry::order);
}

unsigned long Writers::first_reader(unsigned long writer) const {
  constexpr std::ptrdiff_t most = 256;  // looking further would take long under the policy's lock
  const auto first = find(writer), end = first + std::min(most, entries_.end() - first);
  const auto read = std::find_if(first, end, [](const Entry& entry) { return entry.reader > 0; });
  return read != end ? read->reader : 0;
}

unsigned long Writers::next_use(unsigned long writer) const {
  const auto entry = find(writer);
  if (entry == entries_.end()) return 0;
  if (entry->reader > 0) return entry->reader;
  return std::next(entry) != entries_.end() ? std::next(entry)->order : 0;
}

std::size_t Writers::count(unsigned long from, unsigned long to) const {
  return from < to ? static_cast<std::size_t>(find(to) - find(from)) : 0;
}

bool has_readers(const State& state, const Task& task) {
  const auto* const result = task.output != nullptr ? state.results.tiles.find(task.output) : nullptr;
  return result != nullptr && result->has_readers();
}

bool feeds_other_chains(const State& state, const Task& task) {
  const auto* const result = task.output != nullptr ? state.results.tiles.find(task.output) : nullptr;
  return result != nullptr && (result->has_readers() || result->coupled > 0);
}

bool is_independent(const State& state, const Task& task) {
  const auto is_result_of_others = [&](const TileUse& use) {
    const auto* const tile = use.tile != task.output ? state.results.tiles.find(use.tile) : nullptr;
    return tile != nullptr && tile->is_result;
  };
  return task.output != nullptr && !has_readers(state, task) && std::ranges::none_of(task.tiles, is_result_of_others);
}

void note_uses(State& state, const std::vector<TileUse>& tiles) {
  const bool is_coupled = writes_several(tiles);
  for (const auto& use : tiles) {
    auto& result = state.results.tiles[use.tile];
    result.unfinished++;
    if (!use.writes) {
      result.pending.add_reader(state.submitted);
      continue;
    }
    result.pending.add(state.submitted);
    result.writers++;
    if (is_coupled) result.coupled++;
    result.is_result = true;
    set_waiting(state.results, result, 0);
  }
}

void note_duration(State& state, double seconds) {
  constexpr double weight = 0.1;  // weight of a new measurement
  state.results.task_seconds += weight * (seconds - state.results.task_seconds);
}

std::vector<TileId> results_of_ended(State& state, const std::vector<TileUse>& tiles, unsigned node) {
  const bool is_coupled = writes_several(tiles);
  std::vector<TileId> now;
  for (const auto& use : tiles) {
    auto* const result = state.results.tiles.find(use.tile);
    if (result == nullptr) continue;
    result->unfinished--;
    const bool returns = use.home >= 0 && use.home != static_cast<int>(node);
    if (use.writes) {
      result->pending.end_first();
      result->writers--;
      if (is_coupled) result->coupled--;
      result->node = returns ? node : host_node;
    }
    if (write_back_now(state, use.tile, use.bytes, *result)) now.push_back(use.tile);
    if (result->unfinished == 0) state.results.tiles.erase(use.tile);
  }
  return now;
}

std::vector<TileId> results_of_requested(State& state, const Worker& worker) {
  std::vector<TileId> now;
  for (const auto& slot : worker.station.slots()) {
    if (!slot.issuing) continue;
    for (const auto& use : slot.task->tiles) {
      auto* const result = state.results.tiles.find(use.tile);
      if (result != nullptr && write_back_now(state, use.tile, use.bytes, *result)) now.push_back(use.tile);
    }
  }
  return now;
}

}  // namespace tessera::scheduler
