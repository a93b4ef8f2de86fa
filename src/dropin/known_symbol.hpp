// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "common/kept_errno.hpp"

namespace tessera::dropin {

/// The address of a symbol, looked up once.
class KnownSymbol {
 public:
  template <typename LookUp>
  void* find(LookUp look_up) {
    if (!known_.load(std::memory_order_acquire)) {
      const common::KeptErrno kept;
      address_.store(look_up(), std::memory_order_relaxed);
      known_.store(true, std::memory_order_release);
    }
    return address_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> known_ = false;
  std::atomic<void*> address_ = nullptr;
};

}  // namespace tessera::dropin
