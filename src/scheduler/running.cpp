// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>

#include "clock.hpp"

namespace tessera::scheduler {

/// Whether nothing will release tiles or tasks for a worker unless it starts another task. Of some tasks, its own
/// internal ones (a reduction has many), StarPU does not tell when they end: one that seems to run for long may be
/// such.
bool Policy::is_idle(const Worker& worker) {
  constexpr double unknown_is_long = 1e-3, times_expected = 4;
  if (worker.given.empty()) return true;
  return std::ranges::all_of(worker.given, &Worker::Given::started) &&
         now() - worker.started > std::max(unknown_is_long, times_expected * worker.expected);
}

/// Whether the tile is on its way to a peer that has taken a task with it, or reserved one. That task waits for its
/// tiles and the tasks before it, for nothing else: it will start. What a peer asked for and does not need any more,
/// because the task was stolen, may never arrive: such requests find no memory where there is little.
bool Policy::awaited_by_a_peer(const Worker& worker, starpu_data_handle_t tile) const {
  const auto given_with_it = [tile](const Worker::Given& given) {
    return !given.started && std::ranges::find(given.awaited, tile) != given.awaited.end();
  };
  const auto reserved_with_it = [tile](const ReservationStation::Slot& slot) {
    bool any = false;
    if (slot.prefetched)
      for_each_tile(slot.task.task, [&](starpu_data_handle_t other, int mode) {
        any = any || (other == tile && (mode & STARPU_R) != 0);
      });
    return any;
  };
  return std::ranges::any_of(members_, [&](const Worker* other) {
    return cache_->is_peer(other->node, worker.node) && !TileCache::valid(tile, other->node) &&
           (std::ranges::any_of(other->given, given_with_it) ||
            std::ranges::any_of(other->station.slots(), reserved_with_it));
  });
}

void Policy::forget(const Worker::Given& given) {
  if (const auto order = order_.find(given.task); order != order_.end() && order->second == given.order)
    order_.erase(order);
  if (given.output != nullptr) chains_.finished(given.output);
}

void Policy::starts(starpu_task* task, int id) {
  std::vector<int> sleepers;
  {
    const Lock lock(mutex_);
    if (fetching_ == id) fetching_ = nobody;
    auto* worker = workers_[static_cast<std::size_t>(id)].get();
    if (worker == nullptr) return;
    const auto given = std::ranges::find(worker->given, task, &Worker::Given::task);
    if (given == worker->given.end()) {
      order_.erase(task);  // not from us
      return;
    }
    if (!worker->runs()) count_idle(*worker);
    // A worker runs one task at a time: what started before has ended, and StarPU has not said so.
    for (const auto& other : worker->given)
      if (other.started) forget(other);
    given->started = true;
    std::erase_if(worker->given, [&](const Worker::Given& other) { return other.started && other.task != task; });
    worker->idle_since = 0;
    worker->started = now();
    worker->expected = seconds(*worker, task);
    sleepers = wake_all(true, id);  // its tiles are there: who waits for one of them can have it
  }
  for (const int sleeper : sleepers) starpu_wake_worker_relax_light(sleeper);
}

void Policy::ends(starpu_task* task, int id) {
  const auto output = output_of(task);
  bool complete = false;
  {
    const Lock lock(mutex_);
    order_.erase(task);
    if (output != nullptr) complete = chains_.finished(output);
    auto* worker = workers_[static_cast<std::size_t>(id)].get();
    if (worker == nullptr) return;
    const auto given = std::ranges::find(worker->given, task, &Worker::Given::task);
    if (given != worker->given.end()) {
      worker->given.erase(given);
      const double end = now();
      pace_.finished(task, worker->kind, end - worker->started);
      worker->idle_since = end, worker->idle_for_data = worker->has_work();
    }
  }
  if (complete && options_.write_back && starpu_worker_get_memory_node(static_cast<unsigned>(id)) != STARPU_MAIN_RAM &&
      TileCache::has_place(output, STARPU_MAIN_RAM))
    write_back(output);
}

}  // namespace tessera::scheduler
