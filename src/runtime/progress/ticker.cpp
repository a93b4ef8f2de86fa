// SPDX-License-Identifier: BSD-3-Clause
#include "ticker.hpp"

#include <chrono>
#include <utility>

#include "common/no_signals.hpp"

namespace tessera::runtime {

namespace {
constexpr std::chrono::milliseconds between_ticks{200};
}

Ticker::Ticker(std::function<void()> tick) : tick_(std::move(tick)) {
  const common::NoSignals in_the_thread;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Ticker::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    tick_();
    stopped_.wait_for(lock, stop, between_ticks, [] { return false; });
  }
}

}  // namespace tessera::runtime
