// SPDX-License-Identifier: BSD-3-Clause
#include "progress/progress.hpp"

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "submitted.hpp"

namespace tessera::detail {

namespace {

struct HostBytes {
  std::uint64_t in = 0, out = 0;
};

/// Since the session began. Reading sets StarPU's own counts to zero, and a transfer that ends in this very moment may
/// be lost: not to be done more often than somebody can read.
HostBytes host_bytes() {
  HostBytes result;
  if (starpu_cuda_worker_get_count() == 0) return result;
  const auto is_gpu = [](int node) { return starpu_node_get_kind(static_cast<unsigned>(node)) == STARPU_CUDA_RAM; };
  for (const auto& [link, bytes] : bytes_by_link()) {
    const auto [from, to] = link;
    if (!is_gpu(from) && is_gpu(to)) result.in += bytes;
    if (is_gpu(from) && !is_gpu(to)) result.out += bytes;
  }
  return result;
}

class Meter {
 public:
  void begin_call() {
    const std::lock_guard lock(mutex_);
    calls_++;
    if (outstanding_.fetch_add(1) > 0) return;
    if (running_) end_period();  // whoever has finished its last task waits for this lock
    period_++;
    running_ = true;
    begin_ = Clock::now();
    tasks_before_ = tasks_, flops_before_ = flops_;  // all of them are done
    bytes_before_ = bytes_ = host_bytes();
    bytes_known_ = 0;
  }

  void end_call() {
    const std::lock_guard lock(mutex_);
    calls_--;
    if (outstanding_.fetch_sub(1) == 1 && running_) end_period();
  }

  void submit(double flops) {
    outstanding_.fetch_add(1);
    tasks_.fetch_add(1, std::memory_order_relaxed);
    flops_.fetch_add(static_cast<std::uint64_t>(flops), std::memory_order_relaxed);
  }

  /// @pre the call has not ended
  void take_back(double flops) {
    outstanding_.fetch_sub(1);
    tasks_.fetch_sub(1, std::memory_order_relaxed);
    flops_.fetch_sub(static_cast<std::uint64_t>(flops), std::memory_order_relaxed);
  }

  void finish(double flops) {
    tasks_done_.fetch_add(1, std::memory_order_release);
    flops_done_.fetch_add(static_cast<std::uint64_t>(flops), std::memory_order_release);
    if (outstanding_.fetch_sub(1) > 1) return;
    const std::lock_guard lock(mutex_);
    if (running_ && outstanding_ == 0) end_period();  // unless another call has begun
  }

  Progress now() {
    const std::lock_guard lock(mutex_);
    if (!running_) return last_;
    auto progress = read();
    // StarPU runs: whoever finishes the last task has to wait for this lock.
    if (progress.seconds >= long_period && progress.seconds >= bytes_known_ + 1) {
      bytes_ = host_bytes();
      bytes_known_ = progress.seconds;
    }
    progress.bytes_in = bytes_.in - bytes_before_.in, progress.bytes_out = bytes_.out - bytes_before_.out;
    return progress;
  }

  Progress last_long() {
    const std::lock_guard lock(mutex_);
    return last_long_;
  }

  std::atomic<int> watches{0};

 private:
  using Clock = std::chrono::steady_clock;

  Progress read() const {
    Progress progress{.period = period_, .running = true, .submitting = calls_ > 0};
    // First what is done: a task is counted before it is submitted.
    progress.tasks_done = tasks_done_.load(std::memory_order_acquire) - tasks_before_;
    progress.flops_done = static_cast<double>(flops_done_.load(std::memory_order_acquire) - flops_before_);
    progress.tasks = tasks_ - tasks_before_;
    progress.flops = static_cast<double>(flops_ - flops_before_);
    progress.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return progress;
  }

  void end_period() {
    running_ = false;
    last_ = read();
    last_.running = last_.submitting = false;
    if (last_.seconds >= long_period) last_long_ = last_;
  }

  // Whole flops, which may wrap around: only differences count. A double could not be added to at once.
  std::atomic<std::uint64_t> tasks_{0}, flops_{0}, tasks_done_{0}, flops_done_{0};
  std::atomic<std::int64_t> outstanding_{0};  ///< tasks, and calls that submit some

  std::mutex mutex_;  ///< of what follows
  int calls_ = 0;
  bool running_ = false;
  std::uint64_t period_ = 0, tasks_before_ = 0, flops_before_ = 0;
  Clock::time_point begin_;
  HostBytes bytes_before_, bytes_;
  double bytes_known_ = 0;  ///< when, in seconds of the period
  Progress last_, last_long_;
};

constinit Meter meter;

/// Runs before anybody who waits for the task is told: when a call returns, all of its tasks have been counted.
void count_finished(void*) { meter.finish(starpu_task_get_current()->flops); }

}  // namespace

ProgressWatch::ProgressWatch() { meter.watches++; }
ProgressWatch::~ProgressWatch() { meter.watches--; }

Progress progress_now() { return meter.now(); }
Progress last_long_progress() { return meter.last_long(); }

CountedCall::CountedCall() : counted_(meter.watches > 0) {
  if (counted_) meter.begin_call();
}

CountedCall::~CountedCall() {
  if (counted_) meter.end_call();
}

void CountedCall::count(starpu_task& task) const {
  if (!counted_) return;
  task.epilogue_callback_func = count_finished;
  meter.submit(task.flops);
}

void CountedCall::take_back(const starpu_task& task) const {
  if (counted_) meter.take_back(task.flops);
}

}  // namespace tessera::detail
