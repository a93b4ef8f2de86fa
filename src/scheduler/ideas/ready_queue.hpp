// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <utility>

#include "task.hpp"

namespace tessera::scheduler {

/// Ready tasks, sorted by `RunsBefore`. Adding or taking a task costs O(log n).
class ReadyQueue {
 public:
  using Tasks = std::set<TaskPtr, RunsBefore>;

  /// Most tasks become ready roughly in order, so insertion is first tried at the end.
  void add(TaskPtr task) { tasks_.insert(tasks_.end(), std::move(task)); }
  TaskPtr take(Tasks::const_iterator position) { return std::move(tasks_.extract(position).value()); }

  bool empty() const noexcept { return tasks_.empty(); }
  std::size_t size() const noexcept { return tasks_.size(); }
  const Tasks& tasks() const noexcept { return tasks_; }
  const Task& front() const { return **tasks_.begin(); }

 private:
  Tasks tasks_;
};

}  // namespace tessera::scheduler
