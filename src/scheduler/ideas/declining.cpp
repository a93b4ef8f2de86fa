// SPDX-License-Identifier: BSD-3-Clause
#include "declining.hpp"

#include <algorithm>
#include <iterator>

#include "placing.hpp"

namespace tessera::scheduler {

bool leave_to_faster(const State& state, const Worker& worker, const Task& task) {
  if (!state.options.decline || state.kinds.size() < 2) return false;
  const double own = predicted_seconds(state, worker, task);
  if (own <= 0) return false;          // not known: running the task measures it
  constexpr double much_faster = 0.5;  // smaller differences may be noise
  double rate = 0, fastest = own;
  for (std::size_t kind = 0; kind < state.kinds.size(); kind++) {
    const auto& others = state.kinds[kind];
    if ((task.kinds & bit(static_cast<int>(kind))) == 0 || others.empty()) continue;
    const double other = predicted_seconds(state, *others.front(), task);
    if (other <= 0 || other > much_faster * own) continue;
    rate += static_cast<double>(others.size()) / other;
    fastest = std::min(fastest, other);
  }
  return rate > 0 && own > static_cast<double>(state.order.size()) / rate + fastest;
}

void decline(State& state, Worker& worker) {
  int left = state.options.window;
  for (auto task = worker.bound.tasks().begin(); task != worker.bound.tasks().end() && left-- > 0;) {
    const auto next = std::next(task);
    if (leave_to_faster(state, worker, **task)) {
      state.chains.set_home((*task)->output, no_worker);
      share(state, worker.bound.take(task));
    }
    task = next;
  }
  state.declined = true;
}

}  // namespace tessera::scheduler
