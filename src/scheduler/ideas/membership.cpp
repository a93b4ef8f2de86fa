// SPDX-License-Identifier: BSD-3-Clause
#include "membership.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "placing.hpp"
#include "running.hpp"

namespace tessera::scheduler {

namespace {

/// The key of the shared queue for tasks that no worker can execute.
const std::pair<Kinds, std::vector<int>> nobody;

}  // namespace

void add_worker(State& state, int id, unsigned node, bool cpu) {
  auto& worker = state.workers[static_cast<std::size_t>(id)];
  if (worker == nullptr) {
    worker = std::make_unique<Worker>();
    worker->id = id;
    worker->node = node;
    worker->kind = worker->model = cpu ? cpu_kind : 1 + static_cast<int>(node);
  } else if (worker->present) {
    return;  // StarPU did not report that the worker had left
  }
  worker->present = true;
  state.members.push_back(worker.get());
  const auto kind = static_cast<std::size_t>(worker->kind);
  state.kinds.resize(std::max(state.kinds.size(), kind + 1));
  state.kinds[kind].push_back(worker.get());
}

void set_device(State& state, Worker& worker, std::string_view name) {
  const auto begin = name.find('('), end = name.rfind(" GiB");
  if (begin == name.npos || end == name.npos || begin > end) return;
  worker.device = name.substr(begin + 1, end - begin - 1);
  const auto is_same = [&](const Worker* other) { return other != &worker && other->device == worker.device; };
  const auto same = std::ranges::find_if(state.members, is_same);
  if (same != state.members.end()) worker.model = (*same)->model;
}

void remove_worker(State& state, Worker& worker) {
  if (!worker.present) return;
  worker.present = false;
  std::erase(state.members, &worker);
  std::erase(state.kinds[static_cast<std::size_t>(worker.kind)], &worker);
  state.chains.forget(worker.id);
  if (state.large_fetcher == worker.id) state.large_fetcher = no_worker;
  set_waits(state, worker, false);
  hand_back(state, worker);
}

void hand_back(State& state, Worker& worker) {
  while (!worker.bound.empty()) place_again(state, worker.bound.take(worker.bound.tasks().begin()));
  for (std::size_t i = worker.station.size(); i-- > 0;)
    if (!worker.station.slots()[i].issuing) place_again(state, take_reserved(state, worker, i));
}

bool has_refused(const State& state) {
  const auto refused = state.shared.find(nobody);
  return refused != state.shared.end() && !refused->second.empty();
}

void look_around(State& state, double now) {
  if (now < state.looked_around + look_interval) return;
  state.looked_around = now;
  const auto members = state.members;
  for (auto* worker : members)
    if (!state.backend.is_member(worker->id)) remove_worker(state, *worker);
  if (!has_refused(state)) return;
  auto refused = std::move(state.shared.extract(nobody).mapped());
  state.shared_tasks -= refused.size();
  while (!refused.empty()) place_again(state, refused.take(refused.tasks().begin()));
}

void place_shared_again(State& state) {
  auto before = std::exchange(state.shared, {});
  state.shared_tasks = 0;
  for (auto& [key, queue] : before)
    while (!queue.empty()) place_again(state, queue.take(queue.tasks().begin()));
}

}  // namespace tessera::scheduler
