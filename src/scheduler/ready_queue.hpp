// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>

#include "ready_task.hpp"

namespace tessera::scheduler {

/// Ready tasks in the order of the program's priorities. Adding and taking cost O(log n).
class ReadyQueue {
 public:
  using Tasks = std::set<ReadyTask, RunsBefore>;

  void add(const ReadyTask& task) { tasks_.insert(task); }
  ReadyTask take(Tasks::const_iterator position) { return tasks_.extract(position).value(); }

  bool empty() const noexcept { return tasks_.empty(); }
  std::size_t size() const noexcept { return tasks_.size(); }
  const Tasks& tasks() const noexcept { return tasks_; }

 private:
  Tasks tasks_;
};

}  // namespace tessera::scheduler
