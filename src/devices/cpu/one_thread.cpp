// SPDX-License-Identifier: BSD-3-Clause
#include "one_thread.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "host_blas.hpp"
#include "host_library.hpp"

namespace tessera::device::cpu {

namespace {

/// OpenMP's functions for the number of threads. If OpenBLAS uses OpenMP, each calling thread has its own number.
struct OpenMp {
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;

  static const OpenMp& of_openblas() {
    static const OpenMp only;
    return only;
  }
  explicit operator bool() const { return threads != nullptr && set_threads != nullptr; }

 private:
  OpenMp() {
    constexpr int with_openmp = 2;  // OPENBLAS_OPENMP, which older headers lack
    auto* const kind = reinterpret_cast<int (*)()>(symbol("openblas_get_parallel"));
    if (kind == nullptr || kind() != with_openmp) return;
    threads = reinterpret_cast<int (*)()>(symbol("omp_get_max_threads"));
    set_threads = reinterpret_cast<void (*)(int)>(symbol("omp_set_num_threads"));
  }
};

// The mutex is never destroyed, because tasks may run while the process exits.
auto& changing = *new std::mutex;  // held while the number of threads changes, and while `users` changes from or to 0
std::atomic<int> users = 0;        // number of OneThread objects
int number_before = 0;             // guarded by `changing`

/// Sets the number of threads without starting any, because threads that a worker starts would be bound to its core.
/// OpenBLAS's own function would start threads that a fork has stopped.
void change(int count) {
  static int* const number = static_cast<int*>(symbol("blas_cpu_number"));
  if (number != nullptr) __atomic_store_n(number, count, __ATOMIC_RELAXED);
  else set_threads(count);
}

/// Adds a user if there are any, because the number of threads is then already 1. Returns whether there were any.
bool join_users() {
  int now = users.load();
  while (now > 0 && !users.compare_exchange_weak(now, now + 1)) {
  }
  return now > 0;
}

/// Removes a user if others remain. Returns whether others remain.
bool leave_users() {
  int now = users.load();
  while (now > 1 && !users.compare_exchange_weak(now, now - 1)) {
  }
  return now > 1;
}

}  // namespace

OneThread::OneThread() {
  if (const auto& openmp = OpenMp::of_openblas()) {
    before_ = openmp.threads();
    openmp.set_threads(1);
    return;
  }
  if (join_users()) return;
  const std::lock_guard lock(changing);
  if (join_users()) return;
  number_before = threads();
  if (number_before != 1) change(1);
  users = 1;
}

OneThread::~OneThread() {
  if (const auto& openmp = OpenMp::of_openblas()) {
    openmp.set_threads(before_);
    return;
  }
  if (leave_users()) return;
  const std::lock_guard lock(changing);
  if (users.fetch_sub(1) > 1) return;  // another user has come since; changes from 0 need the lock
  if (number_before != 1 && threads() == 1) change(number_before);
}

void OneThread::begin_as_child() noexcept {
  new (&changing) std::mutex;
  if (users.exchange(0) > 0 && number_before != 1) change(number_before);
}

}  // namespace tessera::device::cpu
