// SPDX-License-Identifier: BSD-3-Clause
#include "host_threads.hpp"

#include <new>

namespace tessera::dropin {

HostThreads::HostThreads(const HostBlas& blas)
    : get_(reinterpret_cast<int (*)()>(blas.symbol("openblas_get_num_threads"))),
      set_(reinterpret_cast<void (*)(int)>(blas.symbol("openblas_set_num_threads"))) {
  if (get_ == nullptr || set_ == nullptr) get_ = [] { return 1; }, set_ = [](int) {};
}

void HostThreads::hold() {
  const std::lock_guard lock(mutex_);
  if (holders_++ > 0) return;
  before_ = get_();
  if (before_ > 1) set_(1);
}

void HostThreads::release() {
  const std::lock_guard lock(mutex_);
  if (holders_ == 0 || --holders_ > 0) return;    // 0: the process has forked in the meantime
  if (before_ > 1 && get_() == 1) set_(before_);  // otherwise the program has changed the number
}

void HostThreads::after_fork_in_child(bool locked) {
  if (!locked) new (&mutex_) std::mutex;  // the thread that locked it does not exist in the child
  if (holders_ > 0 && before_ > 1) set_(before_);
  holders_ = 0;
  if (locked) mutex_.unlock();
}

}  // namespace tessera::dropin
