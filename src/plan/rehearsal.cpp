// SPDX-License-Identifier: BSD-3-Clause
// How GPUs reserve, run and steal operations.
#include "rehearsal.hpp"

#include <algorithm>
#include <functional>

namespace tessera::plan {

namespace {

/// The number of GPUs to model: those that take part, and others up to the last one that has a tile. Without GPUs, one
/// stands for the host.
int gpus_with_tiles(const Graph& graph, int working) {
  working = std::max(working, 1);
  for (const auto& tile : graph.tiles) working = std::max(working, tile.home + 1);
  return working;
}

}  // namespace

void Rehearsal::prepare(int gpus) {
  const auto& graph = graph_;
  const auto& machine = machine_;
  working_ = gpus, gpus_ = gpus_with_tiles(graph, gpus);
  now_ = left_ = staging_ = 0, submitted_ = finished_ = finished_on_cores_ = 0, uses_ = 0;
  alike_ = true, declined_ = false, forecast_ = {};
  state_.resize(index(gpus_));
  for (auto& state : state_) state.clear();
  waiters_.clear(), followers_.clear(), readers_.clear(), cores_.clear();
  const auto tiles = graph.tiles.size(), operations = graph.operations.size();
  at_.assign(tiles * index(gpus_), never);
  host_.assign(tiles, never);
  for (std::size_t t = 0; t < tiles; t++) {
    if (graph.tiles[t].temporary) continue;
    const int home = graph.tiles[t].home;
    (home == machine::in_host_memory ? host_[t] : at(static_cast<int>(t), home)) = 0;
  }
  requested_.assign(tiles, 0), first_waiter_.assign(tiles, -1);
  shared_out_.assign(machine.shared.size(), 0), shared_both_ = shared_out_;
  pair_.assign(index(gpus_ * gpus_), 0);
  home_.assign(tiles, -1), writes_left_.assign(tiles, 0), writer_.assign(tiles, -1), reader_.assign(tiles, -1);
  pending_.assign(operations, 1), first_follower_.assign(operations, -1), complete_.assign(operations, never);
  followers_.reserve(3 * operations);
  known_.assign(graph.kinds.size() * index(gpus_), {});
  double bytes = 0;
  for (const auto& tile : graph.tiles) bytes += tile.bytes;
  evicts_ = gpus > 0 && machine.memory > 0 && bytes > machine.memory;
  if (evicts_) last_use_.assign(at_.size(), 0), pins_.assign(at_.size(), 0);
  for (int gpu = 0; gpu < gpus; gpu++) alike_ = alike_ && machine.gpus[index(gpu)].alike_first;
  for (const auto& added : graph.operations) for_each_output(added, [&](int tile) { writes_left_[index(tile)]++; });
  auto& later = later_writes_;
  later = writes_left_;
  for (int number = 0; number < static_cast<int>(operations); number++) {
    const auto& added = operation(number);
    for_each_input(added, [&](int tile) {
      follows(writer_[index(tile)], number);
      if (later[index(tile)] == 0) return;
      readers_.emplace_back(number, std::exchange(reader_[index(tile)], static_cast<int>(readers_.size())));
    });
    for_each_output(added, [&](int tile) {
      follows(std::exchange(writer_[index(tile)], number), number);
      for (int i = std::exchange(reader_[index(tile)], -1); i >= 0; i = readers_[index(i)].second)
        follows(readers_[index(i)].first, number);
      later[index(tile)]--;
      if (home_[index(tile)] < 0) home_[index(tile)] = std::clamp(added.owner, 0, std::max(gpus, 1) - 1);
    });
    if (is_on_core(number)) {
      add_core(added);
      continue;
    }
    of(home(number)).unfinished++;
    left_ += shortest(added);
  }
}

/// Makes an operation depend on an earlier one; -1: on none.
void Rehearsal::follows(int earlier, int number) {
  if (earlier < 0) return;
  followers_.emplace_back(number, std::exchange(first_follower_[index(earlier)], static_cast<int>(followers_.size())));
  pending_[index(number)]++;
}

double Rehearsal::seconds(const Operation& operation, int gpu) {
  auto& known = known_[place(operation.kind, gpu)];
  if (const auto work = operation.work(); known.work != work) {
    const auto name = graph_.kinds[index(operation.kind)];
    const auto& device = working_ > 0 ? machine_.gpus[index(gpu)] : machine_.core;
    known = {work, device.task_seconds(name, work, machine_.element_size)};
  }
  return known.seconds;
}

/// The time of an operation on the GPU that is fastest at it.
double Rehearsal::shortest(const Operation& operation) {
  double least = seconds(operation, 0);
  if (!alike_)
    for (int gpu = 1; gpu < working_; gpu++) least = std::min(least, seconds(operation, gpu));
  return least;
}

void Rehearsal::becomes_ready(int number) {
  auto& ready = is_on_core(number) ? core(number).ready : of(home(number)).ready;
  ready.push_back(number);
  std::ranges::push_heap(ready, std::greater<>());
}

void Rehearsal::move(int tile, int gpu) {
  auto& tile_home = home_[index(tile)];
  of(tile_home).unfinished -= writes_left_[index(tile)];
  of(gpu).unfinished += writes_left_[index(tile)];
  tile_home = gpu;
}

/// Reserves one operation and requests its tiles.
bool Rehearsal::reserve(int gpu) {
  auto& state = of(gpu);
  if (evicts_ && state.needed > most_reserved * machine_.memory && !state.station.empty()) return false;
  if (state.running < 0 && state.station.size() + (state.popped >= 0 ? 1 : 0) >= index(slots_at_rest)) return false;
  if (state.station.size() >= index(slots)) {  // a full station still takes operations more urgent than its last one
    if (state.station.size() >= index(2 * slots)) return false;
    int first = state.ready.empty() ? std::numeric_limits<int>::max() : state.ready.front();
    for (const int number : state.front) first = std::min(first, number);
    if (first > state.station.back()) return false;
  }
  int number = choose(gpu);
  const int popped = state.popped_count();  // running tasks are about to release the next ones of their chains
  if (number < 0 && state.station.empty() && (popped == 0 || state.unfinished <= popped)) number = steal(gpu);
  if (number < 0) return false;
  pin(operation(number), gpu, 1);
  state.station.insert(std::ranges::upper_bound(state.station, number), number);
  const auto& reserved = operation(number);
  for_each_read(reserved, [&](int tile) { request(tile, gpu, number); });
  complete_[index(number)] = complete_at(reserved, gpu);
  state.start = std::min(state.start, complete_[index(number)]);
  return true;
}

void Rehearsal::reserve_all() {
  for (bool any = true; any;) {
    any = false;
    for (int gpu = 0; gpu < working_; gpu++) any = reserve(gpu) || any;
    any = std::exchange(declined_, false) || any;
  }
}

/// When all inputs of an operation will be on a GPU, as far as is known.
double Rehearsal::complete_at(const Operation& reserved, int gpu) {
  double last = 0;
  for_each_read(reserved, [&](int tile) { last = std::max(last, at(tile, gpu)); });
  return last;
}

/// Updates when the reserved operations of a GPU can start.
void Rehearsal::tiles_change(int gpu) {
  auto& state = of(gpu);
  state.start = never;
  for (const int number : state.station) {
    auto& complete = complete_[index(number)];
    if (complete == never) complete = complete_at(operation(number), gpu);
    state.start = std::min(state.start, complete);
  }
}

/// Hands a GPU its next operation while the current one still runs.
void Rehearsal::start_reserved(int gpu) {
  auto& state = of(gpu);
  const auto next = std::ranges::find_if(state.station, [&](int number) { return complete_[index(number)] <= now_; });
  state.popped = *next, state.popped_at = std::max(now_, state.thread_until);
  state.station.erase(next);
  tiles_change(gpu);
  if (state.running < 0) begin(gpu);
  reserve_all();
}

void Rehearsal::begin(int gpu) {
  auto& state = of(gpu);
  state.running = std::exchange(state.popped, -1);
  const double takes = seconds(operation(state.running), gpu);
  left_ -= shortest(operation(state.running));
  state.busy += takes;
  state.busy_until = std::max(now_, state.popped_at + machine_.runtime.push) + takes;
}

void Rehearsal::end(int gpu) {
  auto& state = of(gpu);
  const int number = std::exchange(state.running, -1);
  state.unfinished--, finished_++;
  pin(operation(number), gpu, -1);
  for_each_output(operation(number), [&](int tile) {
    if (!is_on(tile, gpu)) make_room(tile, gpu);
    for (int other = 0; other < gpus_; other++) {
      if (other != gpu) drop(tile, other);
    }
    at(tile, gpu) = now_, host_[index(tile)] = never;
    if (--writes_left_[index(tile)] == 0) bring_home(tile, gpu);
  });
  if (const int next = operation(number).wanted_next; next >= 0) {
    request(next, gpu, static_cast<int>(graph_.operations.size()) + number);
    if (next_copy(state) <= now_) serve_link(gpu);  // its followers request their tiles a little later
  }
  release_followers(number);
  if (state.popped >= 0) begin(gpu);
}

void Rehearsal::release_followers(int number) {
  for (int i = first_follower_[index(number)]; i >= 0;) {
    const auto [follower, next] = followers_[index(i)];
    if (--pending_[index(follower)] == 0) becomes_ready(follower);
    i = next;
  }
}

/// @return  whether the operation no longer depends on others
bool Rehearsal::submit_next() {
  const int number = static_cast<int>(submitted_++);
  if (--pending_[index(number)] > 0) return false;
  becomes_ready(number);
  return true;
}

/// @return  false if no event is left
bool Rehearsal::next_event() {
  enum { Ends, Copies, Starts, EndsOnCore } what = Ends;
  double first = never;
  int which = -1;
  for (int gpu = 0; gpu < gpus_; gpu++) {
    const auto& state = of(gpu);
    if (state.running >= 0 && state.busy_until < first) first = state.busy_until, which = gpu, what = Ends;
    if (const double time = next_copy(state); time < first) first = time, which = gpu, what = Copies;
    if (state.popped < 0 && std::max(state.start, now_) < first)
      first = std::max(state.start, now_), which = gpu, what = Starts;
  }
  for (int core = 0; core < static_cast<int>(cores_.size()); core++)
    if (const auto& state = cores_[index(core)]; state.running >= 0 && state.busy_until < first)
      first = state.busy_until, which = core, what = EndsOnCore;
  const double submits = machine_.runtime.begin + machine_.runtime.submit * static_cast<double>(submitted_);
  if (submitted_ < pending_.size() && submits <= first) {
    now_ = std::max(now_, submits);
    if (submit_next()) begin_on_cores(), reserve_all();
    return true;
  }
  if (which < 0) return false;
  now_ = std::max(now_, first);
  if (what == Copies) serve_link(which);
  else if (what == Starts) start_reserved(which);
  else if (what == EndsOnCore) end_on(cores_[index(which)]), begin_on_cores(), reserve_all();
  else end(which), begin_on_cores(), reserve_all();
  return true;
}

/// @param last  the end of the last copy or operation
Forecast Rehearsal::forecast(double last) {
  const auto registered = std::ranges::count(graph_.tiles, false, &TileSizes::temporary);
  forecast_.seconds = last + machine_.runtime.finish + machine_.runtime.tile * static_cast<double>(registered);
  return forecast_;
}

Forecast Rehearsal::run(double limit) {
  now_ = machine_.runtime.begin;
  if (working_ == 0) return run_on_cores(limit);
  int order = 0;
  for (const auto& [tile, gpu] : graph_.requests) request(tile, std::min(gpu, working_ - 1), order++);
  if (machine_.runtime.submit == 0)
    while (submitted_ < pending_.size()) submit_next();
  begin_on_cores(), reserve_all();
  while (next_event())
    if (now_ + left_ / working_ > limit) return {};
  if (finished_ != graph_.operations.size()) return {};  // the model is stuck, so the candidate is dropped
  double last = 0;
  for (const auto& state : state_) last = std::max({last, state.busy_until, state.out});
  for (const auto& core : cores_) last = std::max(last, core.busy_until);
  for (const double home : host_)
    if (home < never) last = std::max(last, home);
  for (std::size_t t = 0; t < graph_.tiles.size(); t++)
    if (const auto& tile = graph_.tiles[t]; writer_[t] >= 0 && !tile.temporary && tile.returns && tile.home >= 0)
      last = std::max(last, at(static_cast<int>(t), tile.home));
  return forecast(last);
}

/// The longest chain of operations that wait for each other.
double Rehearsal::critical_path() {
  std::vector<double> begin(graph_.operations.size());
  double last = 0;
  for (int number = 0; number < static_cast<int>(begin.size()); number++) {
    const double end =
        begin[index(number)] + (is_on_core(number) ? core_seconds(operation(number)) : seconds(operation(number), 0));
    last = std::max(last, end);
    for (int i = first_follower_[index(number)]; i >= 0; i = followers_[index(i)].second) {
      auto& follower = begin[index(followers_[index(i)].first)];
      follower = std::max(follower, end + machine_.runtime.push);
    }
  }
  return last;
}

void Rehearsal::explain(Forecast& forecast) {
  const auto& runtime = machine_.runtime;
  const auto registered = std::ranges::count(graph_.tiles, false, &TileSizes::temporary);
  const auto most = [&](double GpuState::*seconds) {
    double longest = 0;
    for (const auto& gpu : state_) longest = std::max(longest, gpu.*seconds);
    return longest;
  };
  for (const auto& [name, seconds] :
       {std::pair{"tasks", most(&GpuState::busy)},
        {"links in", most(&GpuState::copies_in)},
        {"links out", most(&GpuState::copies_out)},
        {"critical path", critical_path()},
        {"StarPU", runtime.begin + runtime.finish + runtime.submit * static_cast<double>(graph_.operations.size()) +
                       runtime.tile * static_cast<double>(registered)}})
    if (seconds > forecast.longest) forecast.longest = seconds, forecast.bound = name;
}

}  // namespace tessera::plan
