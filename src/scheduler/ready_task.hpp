// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>
#include <starpu_scheduler.h>

#include <cstdint>
#include <vector>

namespace tessera::scheduler {

/// Workers that are alike, as bits: all that run on CPUs are one kind, and those of each GPU another.
using Kinds = std::uint64_t;
constexpr Kinds bit(int kind) { return Kinds{1} << kind; }

/// A task whose dependencies are fulfilled.
struct ReadyTask {
  starpu_task* task = nullptr;
  starpu_data_handle_t output = nullptr;  ///< the first tile that it writes; null: none
  int priority = 0;                       ///< the program's
  unsigned long order = 0;                ///< of submission
  Kinds kinds = 0;                        ///< those that can execute it
  std::vector<int> workers;               ///< in order, if perhaps not all workers of a kind can: those that can
};

/// The program's priority first, then the order of submission.
struct RunsBefore {
  bool operator()(const ReadyTask& a, const ReadyTask& b) const {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.order != b.order ? a.order < b.order : a.task < b.task;
  }
};

/// Calls function(handle, mode) for the tiles that a task reads or writes; not for workspaces.
template <typename Function>
void for_each_tile(starpu_task* task, Function function) {
  const unsigned count = STARPU_TASK_GET_NBUFFERS(task);
  for (unsigned i = 0; i < count; i++) {
    const auto mode = STARPU_TASK_GET_MODE(task, i);
    if ((mode & (STARPU_SCRATCH | STARPU_REDUX)) == 0) function(STARPU_TASK_GET_HANDLE(task, i), mode);
  }
}

/// Of all its tiles.
inline std::size_t bytes_of(starpu_task* task) {
  std::size_t bytes = 0;
  for_each_tile(task, [&](starpu_data_handle_t tile, int) { bytes += starpu_data_get_alloc_size(tile); });
  return bytes;
}

/// The tile whose chain a task belongs to.
inline starpu_data_handle_t output_of(starpu_task* task) {
  starpu_data_handle_t output = nullptr;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if (output == nullptr && (mode & STARPU_W) != 0) output = tile;
  });
  return output;
}

}  // namespace tessera::scheduler
