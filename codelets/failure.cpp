// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

#include <mutex>
#include <utility>

namespace tessera::codelets {

namespace {
std::mutex mutex;
std::string first_failure;
}  // namespace

void report_failure(const std::string& what) {
  const std::lock_guard lock(mutex);
  if (first_failure.empty()) first_failure = what;
}

std::string take_failure() {
  const std::lock_guard lock(mutex);
  return std::exchange(first_failure, {});
}

}  // namespace tessera::codelets
