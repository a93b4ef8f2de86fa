// SPDX-License-Identifier: BSD-3-Clause
#include <starpu.h>

#include <chrono>
#include <thread>

#include "devices/cpu/host_blas.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::bench {

namespace {

/// Waits until StarPU's workers and OpenBLAS's threads are asleep, which takes them a moment.
void let_them_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

}  // namespace

PauseWorkers::PauseWorkers() : paused_(starpu_is_initialized() != 0) {
  if (!paused_) return;
  starpu_pause();
  let_them_sleep();
}

PauseWorkers::~PauseWorkers() {
  if (paused_) starpu_resume();
}

OpenBlas::OpenBlas(int threads) : before_(device::cpu::threads()) {
  device::cpu::require_library();
  device::cpu::set_threads(threads);
}

OpenBlas::~OpenBlas() {
  device::cpu::set_threads(before_);
  let_them_sleep();
}

}  // namespace tessera::bench
