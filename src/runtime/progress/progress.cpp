// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "devices/gpu_workers.hpp"
#include "progress_clock.hpp"
#include "runtime/counters.hpp"

namespace tessera::runtime {

namespace {

/// Bytes copied from the host to GPUs (in) and back (out).
struct HostBytes {
  std::uint64_t in = 0, out = 0;
};

/// Bytes since the session began. Each reading resets StarPU's own counts and may miss a transfer that ends at that
/// moment, so callers read at most once a second.
HostBytes host_bytes() {
  HostBytes result;
  if (device::gpu_workers::count() == 0) return result;
  const auto is_gpu = [](int node) { return device::gpu_workers::is_gpu_memory(static_cast<unsigned>(node)); };
  for (const auto& [link, bytes] : bytes_by_link()) {
    const auto [from, to] = link;
    if (!is_gpu(from) && is_gpu(to)) result.in += bytes;
    if (is_gpu(from) && !is_gpu(to)) result.out += bytes;
  }
  return result;
}

std::atomic<ProgressClock::time_point (*)()> replaced_clock = nullptr;

class Meter {
 public:
  void begin_call() {
    const std::lock_guard lock(mutex_);
    calls_++;
    if (outstanding_.fetch_add(1) > 0) return;
    if (running_) end_period();  // the last task has ended, and its thread waits in finish() for this lock
    period_++;
    running_ = true;
    begin_ = progress_time();
    tasks_before_ = tasks_, flops_before_ = flops_;  // all tasks counted so far are done
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
    // host_bytes() needs a running StarPU. It still runs, because the thread that ends the last task needs this lock.
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
  Progress read() const {
    Progress progress{.period = period_, .running = true, .submitting = calls_ > 0};
    // Finished counts are read before totals. A task is added to the totals before it is submitted, so done ≤ total.
    progress.tasks_done = tasks_done_.load(std::memory_order_acquire) - tasks_before_;
    progress.flops_done = static_cast<double>(flops_done_.load(std::memory_order_acquire) - flops_before_);
    progress.tasks = tasks_ - tasks_before_;
    progress.flops = static_cast<double>(flops_ - flops_before_);
    progress.seconds = std::chrono::duration<double>(progress_time() - begin_).count();
    return progress;
  }

  void end_period() {
    running_ = false;
    last_ = read();
    last_.running = last_.submitting = false;
    if (last_.seconds >= long_period) last_long_ = last_;
  }

  // Flops are integers, because a single instruction can add to them; doubles would need a compare-and-swap loop. They
  // may wrap around, since only differences are used.
  std::atomic<std::uint64_t> tasks_{0}, flops_{0}, tasks_done_{0}, flops_done_{0};
  std::atomic<std::int64_t> outstanding_{0};  ///< unfinished tasks, and calls that are still submitting

  std::mutex mutex_;  ///< protects the members below
  int calls_ = 0;
  bool running_ = false;
  std::uint64_t period_ = 0, tasks_before_ = 0, flops_before_ = 0;
  ProgressClock::time_point begin_;
  HostBytes bytes_before_, bytes_;
  double bytes_known_ = 0;  ///< when bytes_ was read, in seconds since the period began
  Progress last_, last_long_;
};

constinit Meter meter;

}  // namespace

ProgressClock::time_point progress_time() {
  const auto clock = replaced_clock.load();
  return clock != nullptr ? clock() : ProgressClock::now();
}

void set_progress_clock(ProgressClock::time_point (*clock)()) { replaced_clock = clock; }

ProgressWatch::ProgressWatch() { meter.watches++; }
ProgressWatch::~ProgressWatch() { meter.watches--; }

bool progress_is_watched() { return meter.watches > 0; }

Progress progress_now() { return meter.now(); }
Progress last_long_progress() { return meter.last_long(); }

void count_finished(const starpu_task& task) { meter.finish(task.flops); }

CountedCall::CountedCall() : counted_(progress_is_watched()) {
  if (counted_) meter.begin_call();
}

CountedCall::~CountedCall() {
  if (counted_) meter.end_call();
}

void CountedCall::count(const starpu_task& task) const {
  if (counted_) meter.submit(task.flops);
}

void CountedCall::take_back(const starpu_task& task) const {
  if (counted_) meter.take_back(task.flops);
}

}  // namespace tessera::runtime
