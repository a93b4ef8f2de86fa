// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "common/not_copyable.hpp"

struct starpu_task;

namespace tessera::runtime {

/// The progress of Tessera's calls in one period. A period begins with a call made while no other work exists, and ends
/// when all work has ended. Only tile tasks are counted, not the program's own tasks.
struct Progress {
  std::uint64_t period = 0;  ///< number of the period, counted from 1; 0: none has begun
  bool running = false;      ///< whether work is left
  bool submitting = false;   ///< whether a call is still submitting tasks
  std::uint64_t tasks = 0, tasks_done = 0;
  double flops = 0, flops_done = 0;
  double seconds = 0;                         ///< since the period began; if it has ended, its length
  std::uint64_t bytes_in = 0, bytes_out = 0;  ///< from the host to GPUs and back; may lag by a second
};

/// Shorter periods are not shown.
inline constexpr double long_period = 1.0;  ///< seconds

/// Enables counting for calls that begin while at least one ProgressWatch exists. Counting costs two short calls per
/// task, so it is off unless someone watches.
class ProgressWatch : common::NotCopyable {
 public:
  ProgressWatch();
  ~ProgressWatch();
};

/// Whether a ProgressWatch exists.
bool progress_is_watched();

/// The current period, or the last one if none is running. May be called from any thread, even if StarPU is not
/// running.
Progress progress_now();

/// The last finished period that lasted at least `long_period`.
Progress last_long_progress();

/// Counts a finished task of a counted call. Call this before threads waiting for the task are notified, so that all
/// tasks of a call have been counted when it returns.
void count_finished(const starpu_task& task);

/// Counts the tasks of one call. It exists while the call submits tasks.
class CountedCall : common::NotCopyable {
 public:
  CountedCall();
  ~CountedCall();

  /// Whether `count_finished` must be called for the tasks of this call.
  bool counted() const noexcept { return counted_; }
  /// Counts a task and its flops, just before it is submitted.
  void count(const starpu_task& task) const;
  /// Uncounts a task that StarPU refused.
  void take_back(const starpu_task& task) const;

 private:
  bool counted_;
};

}  // namespace tessera::runtime
