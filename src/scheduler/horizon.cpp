// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>
#include <iterator>

namespace tessera::scheduler {

/// Whether faster workers will have done all there is to do before this one is done with the task.
bool Policy::leave_to_faster(const Worker& worker, const ReadyTask& task) const {
  if (!options_.horizon || kinds_.size() < 2) return false;
  const double own = seconds(worker, task.task);
  if (own <= 0) return false;      // it will be known after the first one
  constexpr double clearly = 0.5;  // less is noise
  double rate = 0, fastest = own;
  for (std::size_t kind = 0; kind < kinds_.size(); kind++) {
    if ((task.kinds & bit(static_cast<int>(kind))) == 0 || kinds_[kind].empty()) continue;
    const double other = seconds(*kinds_[kind].front(), task.task);
    if (other <= 0 || other > clearly * own) continue;
    rate += static_cast<double>(kinds_[kind].size()) / other;
    fastest = std::min(fastest, other);
  }
  return rate > 0 && own > static_cast<double>(order_.size()) / rate + fastest;
}

/// Lets the others have what a worker had better not do.
void Policy::decline(Worker& worker) {
  int left = options_.window;
  for (auto task = worker.bound.tasks().begin(); task != worker.bound.tasks().end() && left-- > 0;) {
    const auto next = std::next(task);
    if (leave_to_faster(worker, *task)) {
      chains_.set_home(task->output, nobody);
      share(worker.bound.take(task));
    }
    task = next;
  }
  declined_ = true;
}

}  // namespace tessera::scheduler
