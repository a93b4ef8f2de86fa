// SPDX-License-Identifier: BSD-3-Clause
#include "bench/timing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace tessera::bench {

Progress::Progress(std::optional<bool> wanted) : line_(STDERR_FILENO) {
  if (!wanted.value_or(line_.in_place())) return;
  line_.start(runtime::StatusLine::Clock::now());
  watch_.emplace();
  ticker_.emplace([this] { look(); });
}

Progress::~Progress() {
  ticker_.reset();
  line_.clear();
}

void Progress::show(const std::string& detail, const std::string& more) {
  if (!ticker_) return;
  const std::lock_guard lock(mutex_);
  text_ = detail.empty() ? what_ : what_ + ": " + detail;
  more_ = more;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  text_.clear();
  line_.clear();
}

void Progress::look() {
  const std::lock_guard lock(mutex_);
  if (text_.empty()) return;
  calls_.add(runtime::progress_now());
  const auto call = calls_.say();
  const auto after = [](const char* separator, const std::string& part) {
    return part.empty() ? "" : separator + part;
  };
  auto line = text_ + after(", ", more_) + after("; ", call);
  if (line.size() > line_.width()) line = text_ + after("; ", call);
  line_.show(line, runtime::StatusLine::Clock::now());
}

double seconds_of(const TimedCall& call) {
  using Clock = std::chrono::steady_clock;
  if (call.prepare) call.prepare();
  const auto begin = Clock::now();
  call.run();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

namespace {
std::string took(double seconds) { return fmt::format("the last call took {:.3g} s", seconds); }
}  // namespace

Timing measure(const TimedCall& call, const Repetitions& repetitions, Progress& progress) {
  progress.show("first call");
  Timing timing;
  timing.first = seconds_of(call);
  double last = timing.first;
  for (int i = 0; i < repetitions.warmup; i++) {
    progress.show(fmt::format("warm-up {}/{}", i + 1, repetitions.warmup), took(last));
    last = seconds_of(call);
  }
  std::vector<double> all;
  for (int i = 0; i < repetitions.repeat; i++) {
    progress.show(fmt::format("repetition {}/{}", i + 1, repetitions.repeat), took(last));
    all.push_back(last = seconds_of(call));
    if (call.counted) call.counted();
  }
  timing.median = median(all);
  timing.best = std::ranges::min(all);
  return timing;
}

}  // namespace tessera::bench
