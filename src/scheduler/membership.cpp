// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>
#include <utility>

#include "clock.hpp"

namespace tessera::scheduler {

void Policy::add_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++) add(workers[i]);
  // What waits in the shared queues may be for them, too.
  SharedQueues before;
  before.swap(shared_);
  shared_tasks_ = 0;
  for (const auto& [key, queue] : before)
    for (const auto& task : queue.tasks()) place(describe(task.task));
}

void Policy::add(int id) {
  auto& worker = workers_[static_cast<std::size_t>(id)];
  if (worker == nullptr) {
    worker = std::make_unique<Worker>();
    worker->id = id;
    worker->node = starpu_worker_get_memory_node(static_cast<unsigned>(id));
    const bool alike = starpu_node_get_kind(worker->node) == STARPU_CPU_RAM;
    worker->kind = alike ? 0 : 1 + static_cast<int>(worker->node);
  } else if (worker->present) {
    return;  // it comes back: StarPU does not say when one leaves
  }
  worker->present = true;
  members_.push_back(worker.get());
  kinds_.resize(std::max(kinds_.size(), static_cast<std::size_t>(worker->kind) + 1));
  kinds_[static_cast<std::size_t>(worker->kind)].push_back(worker.get());
}

void Policy::remove_workers(const int* workers, unsigned count) {
  const Lock lock(mutex_);
  for (unsigned i = 0; i < count; i++)
    if (auto* worker = workers_[static_cast<std::size_t>(workers[i])].get(); worker != nullptr) remove(*worker);
}

void Policy::remove(Worker& worker) {
  if (!worker.present) return;
  worker.present = false;
  std::erase(members_, &worker);
  std::erase(kinds_[static_cast<std::size_t>(worker.kind)], &worker);
  chains_.forget(worker.id);
  if (fetching_ == worker.id) fetching_ = nobody;
  hand_back(worker);
}

/// Takes a task from a worker that will not run it.
ReadyTask Policy::take_from(Worker& worker, std::size_t index) {
  const auto slot = worker.station.remove(index);
  abandoned_.add(slot.kept, worker.node);
  slot.task.task->prefetched = 0;  // for a memory where it will not run
  return slot.task;
}

/// What a worker that has left was to do is for the others; but not what its own thread is just asking the tiles of.
void Policy::hand_back(Worker& worker) {
  while (!worker.bound.empty()) place(describe(worker.bound.take(worker.bound.tasks().begin()).task));
  for (std::size_t i = worker.station.size(); i-- > 0;)
    if (!worker.station.slots()[i].issuing) place(describe(take_from(worker, i).task));
}

/// StarPU tells when a worker joins a context, but not when it leaves it: workers with nothing to do look from time to
/// time.
void Policy::remove_those_that_left() {
  constexpr double interval = 0.01;
  if (now() < looked_for_leavers_ + interval) return;
  looked_for_leavers_ = now();
  const auto members = members_;
  for (auto* worker : members)
    if (starpu_sched_ctx_contains_worker(worker->id, context_) == 0) remove(*worker);
}

}  // namespace tessera::scheduler
