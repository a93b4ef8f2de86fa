// SPDX-License-Identifier: BSD-3-Clause
#include "overwrites.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace tessera::common::overwrites {

namespace {

// Not destroyed at exit: threads may still copy.
auto& mutex = *new std::shared_mutex;
auto& listeners = *new std::vector<const Listener*>;  // guarded by mutex
std::atomic<int> count = 0;                           ///< number of listeners; if it is 0, nobody takes the lock

}  // namespace

Listening::Listening(const Listener* listener) : listener_(listener) {
  if (listener_ == nullptr) return;
  const std::lock_guard lock(mutex);
  listeners.push_back(listener_);
  count++;
}

Listening::~Listening() {
  if (listener_ == nullptr) return;
  const std::lock_guard lock(mutex);
  std::erase(listeners, listener_);
  count--;
}

void before(const void* first, const void* last) noexcept {
  if (count == 0) return;
  const std::shared_lock lock(mutex);
  for (const auto* listener : listeners) listener->before(listener->self, first, last);
}

}  // namespace tessera::common::overwrites
