// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::runtime {

namespace {

constexpr double rate_seconds = 0.5, forecast_seconds = 5;
constexpr std::uint64_t rate_tasks = 20;  // with fewer tasks, the rate would jump whenever one ends

/// Whether two observations are far enough apart, in time and tasks, to compute a rate.
bool reaches_back(const Progress& then, const Progress& now, double seconds) {
  return now.seconds - then.seconds >= seconds && now.tasks_done - then.tasks_done >= rate_tasks;
}

/// The value with three significant digits.
std::string number(double value) {
  char text[64];
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string say_rate(double rate) {
  return rate >= 1e12 ? number(rate * 1e-12) + " TFLOP/s" : number(rate * 1e-9) + " GFLOP/s";
}

std::string say_bytes(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  return bytes >= 1'000'000'000 ? number(value * 1e-9) + " GB" : number(value * 1e-6) + " MB";
}

/// Rounds down, so that 100 % means finished.
std::string say_percent(const Progress& p) {
  const double part = p.flops > 0 ? p.flops_done / p.flops
                                  : static_cast<double>(p.tasks_done) / std::max(1.0, static_cast<double>(p.tasks));
  return std::to_string(static_cast<int>(100 * part)) + " %";
}

}  // namespace

void ProgressText::add(const Progress& now) {
  if (now_.period != now.period) steps_.clear();
  now_ = now;
  if (steps_.empty()) steps_.push_back({.period = now.period});
  if (now.tasks_done > steps_.back().tasks_done) steps_.push_back(now);
  while (steps_.size() > 2 && reaches_back(steps_[1], steps_.back(), forecast_seconds)) steps_.pop_front();
}

std::optional<double> ProgressText::rate_over(double seconds) const {
  if (steps_.size() < 2) return {};
  const auto& last = steps_.back();
  const auto since = std::ranges::find_if(steps_.rbegin(), steps_.rend(),
                                          [&](const Progress& step) { return reaches_back(step, last, seconds); });
  const auto& then = since != steps_.rend() ? *since : steps_.front();
  const double span = last.seconds - then.seconds, silence = now_.seconds - last.seconds;
  // If no task has ended for longer than the span, work has stalled, and the time since the last end counts as well.
  return (last.flops_done - then.flops_done) / (silence > span ? span + silence : span);
}

std::optional<double> ProgressText::rate() const { return rate_over(rate_seconds); }

std::optional<double> ProgressText::seconds_left() const {
  const auto recent = rate_over(forecast_seconds);
  if (now_.submitting || recent.value_or(0) <= 0) return {};
  const double since_last = now_.seconds - steps_.back().seconds;
  return std::max(0.0, (now_.flops - now_.flops_done) / *recent - since_last);
}

std::string ProgressText::say() const {
  if (!now_.running || now_.seconds < long_period) return "";
  std::string text = now_.submitting ? "" : say_percent(now_) + ", ";
  if (const auto left = seconds_left()) text += say_duration(std::max(1.0, *left)) + " left, ";
  if (const auto flops = rate()) text += say_rate(*flops) + ", ";
  text += std::to_string(now_.tasks_done) + " of " + std::to_string(now_.tasks) + " tasks";
  if (now_.submitting) text += " so far";
  if (now_.bytes_in + now_.bytes_out > 0)
    text += ", in " + say_bytes(now_.bytes_in) + ", out " + say_bytes(now_.bytes_out);
  return text;
}

std::string say_end(const Progress& last) {
  return say_percent(last) + ", " + std::to_string(last.tasks_done) + " tasks in " + number(last.seconds) + " s, " +
         say_rate(last.seconds > 0 ? last.flops_done / last.seconds : 0);
}

std::string say_duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::min(seconds, 1e9)));
  const auto text = [](long long value, const char* unit) { return std::to_string(value) + unit; };
  if (whole < 60) return text(whole, " s");
  if (whole < 3600) return text(whole / 60, " min ") + text(whole % 60, " s");
  return text(whole / 3600, " h ") + text(whole % 3600 / 60, " min");
}

}  // namespace tessera::runtime
