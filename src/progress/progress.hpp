// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

struct starpu_task;

namespace tessera::detail {

/// How far Tessera's calls have come: all since the last one that began when nothing was left to do. Only tile tasks
/// count, not those that the program submits itself.
struct Progress {
  std::uint64_t period = 0;  ///< that this is about; 0: none has begun
  bool running = false;      ///< something is left to do
  bool submitting = false;   ///< a call is still adding tasks
  std::uint64_t tasks = 0, tasks_done = 0;
  double flops = 0, flops_done = 0;
  double seconds = 0;                         ///< since the period began, until it ended
  std::uint64_t bytes_in = 0, bytes_out = 0;  ///< from the host to GPUs and back, as of a second ago or less
};

/// Periods that are shorter are not worth a word.
inline constexpr double long_period = 1.0;  ///< seconds

/// While one of them lives, calls that begin are counted: that takes two short functions a task, which nobody shall pay
/// for who does not look.
class ProgressWatch {
 public:
  ProgressWatch();
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;
};

/// The period that runs, or else the last one. May be called from any thread, also when StarPU does not run.
Progress progress_now();

/// The last period that is over and was a long one.
Progress last_long_progress();

/// A call while it submits its tasks.
class CountedCall {
 public:
  CountedCall();
  ~CountedCall();
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

  /// It is about to be submitted, with its flops. Takes its epilogue callback.
  void count(starpu_task& task) const;
  /// It was refused.
  void take_back(const starpu_task& task) const;

 private:
  bool counted_;
};

}  // namespace tessera::detail
