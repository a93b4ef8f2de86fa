// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

#include <atomic>
#include <mutex>

namespace tessera::codelets {

namespace {
std::mutex mutex;
std::string last;
std::atomic<std::uint64_t> count{0};
}  // namespace

void report_failure(const std::string& what) {
  const std::lock_guard lock(mutex);
  last = what;
  count++;
}

std::uint64_t failure_count() { return count; }

std::string last_failure() {
  const std::lock_guard lock(mutex);
  return last;
}

}  // namespace tessera::codelets
