// SPDX-License-Identifier: BSD-3-Clause
#include "ticker.hpp"

#include <chrono>
#include <csignal>
#include <utility>

namespace tessera::detail {

namespace {
constexpr std::chrono::milliseconds between_ticks{200};
}

Ticker::Ticker(std::function<void()> tick) : tick_(std::move(tick)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits the mask: signals go to the program's threads
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Ticker::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    tick_();
    stopped_.wait_for(lock, stop, between_ticks, [] { return false; });
  }
}

}  // namespace tessera::detail
