// SPDX-License-Identifier: BSD-3-Clause
#include "exit_gate.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace tessera::detail::exit_gate {

namespace {

std::atomic<bool> closed = false;
pthread_t closer;  // valid once `closed` is true

}  // namespace

void close() noexcept {
  closer = pthread_self();
  closed = true;
}

void pass(std::unique_lock<std::mutex>* held) noexcept {
  if (!closed.load(std::memory_order_acquire) || pthread_equal(closer, pthread_self()) != 0) return;
  if (held != nullptr) held->unlock();
  for (;;) ::pause();  // the process is about to end
}

}  // namespace tessera::detail::exit_gate
