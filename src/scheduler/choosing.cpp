// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>

namespace tessera::scheduler {

/// Whether a worker had better finish some of the chains that it has begun with, before it brings in another result:
/// so it works on one block of a result at a time, as large as its memory allows.
bool Policy::has_room_for(const Worker& worker, const ReadyTask& task) const {
  if (task.output == nullptr || chains_.is_open(task.output, worker.id)) return true;
  if (worker.station.empty() && worker.given.empty()) return true;  // what it has begun with waits for others
  return chains_.open_bytes(worker.id) + starpu_data_get_alloc_size(task.output) <=
         percent_of(worker.memory, options_.results);
}

/// Bytes that tiles of reserved tasks may take, beside results that are not complete.
std::size_t Policy::ahead(const Worker& worker) const {
  return percent_of(worker.memory - std::min(worker.memory, chains_.open_bytes(worker.id)), options_.lookahead);
}

/// Whether there is memory for what a task would add to them: for half of it at least, as it is added as a whole or not
/// at all.
bool Policy::may_fetch_ahead(const Worker& worker, const ReadyTask& task) const {
  return worker.station.bytes() + worker.station.additional_bytes(task, worker.node) / 2 <= ahead(worker);
}

/// Compares the tasks at the front of a queue with the best one so far.
/// @param worthwhile  leaves out those that are better left to faster workers
void Policy::compare(const Worker& worker, ReadyQueue& queue, bool worthwhile, std::optional<Found>& best) const {
  const bool by_score = options_.locality && cache_->distributed();
  int left = by_score || worthwhile ? options_.window : 1;
  for (auto task = queue.tasks().begin(); task != queue.tasks().end() && left > 0; ++task) {
    left--;
    if (!has_room_for(worker, *task) || (worthwhile && leave_to_faster(worker, *task))) continue;
    const auto [score, at_best] = by_score ? cache_->score(task->task, worker.node) : TileCache::Score{};
    if (!best || score > best->score || (score == best->score && RunsBefore{}(*task, *best->position)))
      best = Found{&queue, task, score};
    if (at_best) return;  // no later one is better
  }
}

std::optional<Policy::Found> Policy::look_for(Worker& worker, bool worthwhile) {
  std::optional<Found> best;
  compare(worker, worker.bound, worthwhile, best);
  // No more of the shared tasks than its share: what is reserved here, others must steal.
  const auto fair = (shared_tasks_ + members_.size() - 1) / members_.size();
  if (worker.station.size() < std::max<std::size_t>(1, fair) && (!best || cache_->distributed()))
    for (auto& [key, queue] : shared_)
      if (!queue.empty() && can_execute(worker, *queue.tasks().begin())) compare(worker, queue, worthwhile, best);
  return best;
}

std::optional<ReadyTask> Policy::best_for(Worker& worker) {
  auto best = look_for(worker, false);
  if (best && leave_to_faster(worker, *best->position)) {
    decline(worker);
    best = look_for(worker, true);
  }
  if (!best || (!worker.station.empty() && !may_fetch_ahead(worker, *best->position))) return std::nullopt;
  if (best->queue != &worker.bound) shared_tasks_--;
  return best->queue->take(best->position);
}

}  // namespace tessera::scheduler
