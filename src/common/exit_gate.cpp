// SPDX-License-Identifier: BSD-3-Clause
#include "exit_gate.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace tessera::common::exit_gate {

namespace {

std::atomic<bool> closed = false;
pthread_t closer;  // valid once `closed` is true

}  // namespace

void close() noexcept {
  if (closed) return;  // another exit handler has closed it
  closer = pthread_self();
  closed = true;
}

void open() noexcept { closed = false; }

bool is_closed() noexcept { return closed && pthread_equal(closer, pthread_self()) == 0; }

void stop_here() noexcept {
  for (;;) ::pause();
}

}  // namespace tessera::common::exit_gate
