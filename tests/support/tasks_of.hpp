// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>
#include <starpu_profiling.h>

#include <vector>

namespace tessera::test {

/// Counts the tasks that workers of one kind run during the lifetime of this object.
class TasksOf {
 public:
  explicit TasksOf(starpu_worker_archtype type)
      : workers_(static_cast<std::size_t>(starpu_worker_get_count_by_type(type))) {
    starpu_worker_get_ids_by_type(type, workers_.data(), static_cast<unsigned>(workers_.size()));
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    count();
  }
  ~TasksOf() { starpu_profiling_status_set(STARPU_PROFILING_DISABLE); }
  TasksOf(const TasksOf&) = delete;
  TasksOf& operator=(const TasksOf&) = delete;

  /// The tasks since the last call.
  int count() {
    int sum = 0;
    for (const int worker : workers_) {
      starpu_profiling_worker_info info;
      starpu_profiling_worker_get_info(worker, &info);
      sum += info.executed_tasks;
    }
    return sum;
  }

 private:
  std::vector<int> workers_;
};

}  // namespace tessera::test
