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

void pass() noexcept {
  if (!closed.load(std::memory_order_acquire) || pthread_equal(closer, pthread_self()) != 0) return;
  for (;;) ::pause();  // the process is about to end
}

}  // namespace tessera::detail::exit_gate
