// SPDX-License-Identifier: BSD-3-Clause
// Which operations GPUs reserve, leave to faster ones, and steal. The rules are those of the scheduling policy, with
// two exceptions that hardly matter: an operand that no GPU has costs its copy from the host, and a GPU does not ask
// what else would wait for an operation that it leaves, nor looks for one at the end of its queue.
#include <algorithm>
#include <cmath>
#include <functional>

#include "rehearsal.hpp"

namespace tessera::plan {

double Rehearsal::seconds_to_fetch(const Operation& operation, int gpu) const {
  double seconds = 0;
  for_each_read(operation, [&](int tile) {
    if (is_on(tile, gpu) || will_be_on(tile, gpu)) return;
    double rate = machine_.gpus[index(gpu)].in_rate;
    for (int peer = 0; peer < gpus_; peer++)
      if (is_on(tile, peer) || will_be_on(tile, peer)) rate = std::max(rate, machine_.peer(peer, gpu).rate);
    seconds += graph_.tiles[index(tile)].bytes / rate;
  });
  return seconds;
}

Rehearsal::Faster Rehearsal::faster_than(int gpu, const Operation& operation) {
  constexpr double much_faster = 1.0 / 3;
  const double own = seconds(operation, gpu);
  Faster faster;
  for (int other = 0; other < working_; other++) {
    const double there = seconds(operation, other);
    if (there > much_faster * own) continue;
    faster.gpus.push_back(other);
    faster.rate += 1 / there, faster.seconds = std::min(faster.seconds, there);
  }
  return faster;
}

/// The number of operations, at most `most`, that faster GPUs run before another one.
std::size_t Rehearsal::before(int number, const Faster& faster, std::size_t most) const {
  std::size_t count = 0;
  const auto is_before = [number](int other) { return other < number; };
  for (const int gpu : faster.gpus) {
    const auto& state = state_[index(gpu)];
    count += static_cast<std::size_t>(state.popped_count() + std::ranges::count_if(state.station, is_before) +
                                      std::ranges::count_if(state.front, is_before) +
                                      std::ranges::count_if(state.ready, is_before));
    if (count >= most) return most;
  }
  return count;
}

/// Whether a GPU leaves an operation to much faster GPUs, because these would finish it earlier.
bool Rehearsal::leaves_to_faster(int number, int gpu) {
  if (alike_) return false;
  constexpr double clearly = 0.5e-3, most = 64;
  const auto& wanted = operation(number);
  const auto faster = faster_than(gpu, wanted);
  const double lead = seconds(wanted, gpu) - faster.seconds;
  if (faster.gpus.empty() || lead < clearly) return false;
  const double enough = lead * faster.rate;
  if (static_cast<double>(submitted_ - finished_) < enough) return true;
  const auto counted = static_cast<std::size_t>(std::ceil(std::min(enough, most)));
  return before(number, faster, counted) < counted;
}

/// Moves what a GPU should leave to faster GPUs from the front of its queue to the one of them with the least to do.
void Rehearsal::decline(int gpu) {
  std::erase_if(of(gpu).front, [&](int number) {
    if (!leaves_to_faster(number, gpu)) return false;
    const auto faster = faster_than(gpu, operation(number));
    const int least = *std::ranges::min_element(faster.gpus, {}, [&](int other) { return of(other).unfinished; });
    move(operation(number).output, least), becomes_ready(number);
    return declined_ = true;
  });
}

void Rehearsal::fill_front(GpuState& state) {
  while (state.front.size() < index(window) && !state.ready.empty()) {
    std::ranges::pop_heap(state.ready, std::greater<>());
    state.front.insert(std::ranges::upper_bound(state.front, state.ready.back()), state.ready.back());
    state.ready.pop_back();
  }
}

/// The operation with the least to fetch; -1: there is none.
int Rehearsal::cheapest(const std::vector<int>& numbers, int gpu) const {
  int best = -1;
  double least = never;
  for (const int number : numbers) {
    const double fetch = seconds_to_fetch(operation(number), gpu);
    if (best < 0 || fetch < least) best = number, least = fetch;
    if (fetch == 0) break;  // nothing can be better
  }
  return best;
}

/// Takes the operation with the least to fetch among the first few in the queue.
int Rehearsal::choose(int gpu) {
  auto& state = of(gpu);
  fill_front(state);
  int number = cheapest(state.front, gpu);
  if (number >= 0 && leaves_to_faster(number, gpu)) {
    decline(gpu), fill_front(state);
    auto open = state.front;
    std::erase_if(open, [&](int other) { return leaves_to_faster(other, gpu); });
    number = cheapest(open, gpu);
  }
  std::erase(state.front, number);
  return number;
}

/// Whether the thief would finish clearly before the victim, if the chain of the operation moved to the thief.
bool Rehearsal::pays(int victim, int gpu, const Operation& wanted, double fetch) {
  constexpr double clearly = 1.25;
  const auto& from = of(victim);
  const double there = seconds(wanted, victim), here = seconds(wanted, gpu);
  if (from.running < 0 && (wanted.owner == victim || static_cast<double>(from.backlog()) * there <= fetch + here))
    return false;
  const auto left = static_cast<double>(std::max(index(from.unfinished), from.backlog()));
  const auto own = static_cast<double>(of(gpu).unfinished + writes_left_[index(wanted.output)]);
  return left * there > fetch + clearly * own * here;
}

int Rehearsal::steal(int gpu) {
  int victim = -1;
  double longest = 0;
  for (int other = 0; other < gpus_; other++) {
    const auto& state = of(other);
    if (other == gpu || state.backlog() == 0) continue;
    const int first = !state.front.empty()   ? state.front.front()
                      : !state.ready.empty() ? state.ready.front()
                                             : state.station.front();
    const double busy = static_cast<double>(state.backlog()) * seconds(operation(first), other);
    if (busy > longest) longest = busy, victim = other;
  }
  if (victim < 0) return -1;
  auto& state = of(victim);
  auto& from = !state.ready.empty() ? state.ready : !state.front.empty() ? state.front : state.station;
  auto best = from.end();
  double least = never;
  int looked = 0;
  for (auto i = from.end(); i != from.begin() && looked < window; looked++) {
    --i;
    if (&from == &state.station && state.popped < 0 && complete_[index(*i)] <= now_) continue;  // it starts now
    if (const double fetch = seconds_to_fetch(operation(*i), gpu); fetch < least) least = fetch, best = i;
  }
  if (best == from.end()) return -1;
  const int number = *best;
  if (!pays(victim, gpu, operation(number), least) || leaves_to_faster(number, gpu)) return -1;
  from.erase(best);
  if (&from == &state.ready) std::ranges::make_heap(from, std::greater<>());
  if (&from == &state.station) pin(operation(number), victim, -1), tiles_change(victim);
  complete_[index(number)] = never;
  move(operation(number).output, gpu);
  forecast_.steals++;
  return number;
}

}  // namespace tessera::plan
