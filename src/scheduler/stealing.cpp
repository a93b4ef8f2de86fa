// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>
#include <limits>

namespace tessera::scheduler {

/// From the worker that will be busy longest with what it has, the task that costs least to move, and with it the rest
/// of its chain; nothing, if the other one would be done with all that it has by then.
std::optional<ReadyTask> Policy::steal(Worker& thief) {
  // What runs here is about to release the next tasks of its chains.
  const auto running = thief.given.size();
  if (cache_->distributed() && running > 0 && chains_.unfinished(thief.id) > running) return std::nullopt;
  // A task that fills most of the thief's memory would make it narrow.
  const auto may_take = [&](const ReadyTask& task) { return can_execute(thief, task) && !is_wide(thief, task); };
  const auto offers_some = [&](const Worker& worker) {
    int left = options_.window;
    for (auto task = worker.bound.tasks().rbegin(); task != worker.bound.tasks().rend() && left-- > 0; ++task)
      if (may_take(*task)) return true;
    return std::ranges::any_of(worker.station.slots(), [&](const ReservationStation::Slot& slot) {
      return !slot.issuing && may_take(slot.task);
    });
  };
  Worker* victim = nullptr;
  double longest = 0;
  for (auto* other : members_) {
    if (other == &thief || other->backlog() == 0) continue;
    const auto& first = other->bound.empty() ? other->station.slots().front().task : *other->bound.tasks().begin();
    const double one = seconds(*other, first.task);
    const double wait = static_cast<double>(other->backlog()) * (one > 0 ? one : 1e-9);
    if (wait > longest && offers_some(*other)) victim = other, longest = wait;
  }
  if (victim == nullptr) return std::nullopt;

  const bool distributed = cache_->distributed();
  double cheapest = std::numeric_limits<double>::infinity();
  const ReadyTask* best = nullptr;
  std::size_t slot = 0;
  const auto consider = [&](const ReadyTask& task) {
    if (!may_take(task)) return false;
    const double cost = distributed ? cache_->seconds_to_move(task.task, thief.node) : 0;
    if (cost >= cheapest) return false;
    best = &task, cheapest = cost;
    return true;
  };
  int left = options_.window;
  for (auto task = victim->bound.tasks().rbegin(); task != victim->bound.tasks().rend() && left-- > 0; ++task)
    consider(*task);
  const bool bound = best != nullptr;
  for (const bool prefetched : {false, true}) {  // the tiles of those that are prefetched stay with the victim
    if (best != nullptr) break;
    for (std::size_t i = victim->station.size(); i-- > 0;) {
      const auto& candidate = victim->station.slots()[i];
      if (!candidate.issuing && candidate.prefetched == prefetched && consider(candidate.task)) slot = i;
    }
  }
  if (best == nullptr || leave_to_faster(thief, *best)) return std::nullopt;

  // Not where both would be done at about the same time anyway: the thief may only wait for what others compute.
  const double there = seconds(*victim, best->task), here = seconds(thief, best->task);
  const auto stolen = options_.chains ? chains_.length(best->output) : 1;
  const auto own = static_cast<double>(chains_.unfinished(thief.id) + stolen),
             others = static_cast<double>(std::max(chains_.unfinished(victim->id), victim->backlog()));
  constexpr double clearly = 1.25;
  if (distributed && others * (there > 0 ? there : 1) <= cheapest + clearly * own * (here > 0 ? here : 1))
    return std::nullopt;
  statistics_.steals++;
  if (bound) return victim->bound.take(victim->bound.tasks().find(*best));
  return take_from(*victim, slot);
}

}  // namespace tessera::scheduler
