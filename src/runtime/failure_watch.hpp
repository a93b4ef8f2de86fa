// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::codelets {
struct Failure;
}

namespace tessera::detail {

/// Collects failures for a thread that will wait: those that are added, and stray ones, which belong to no known tile.
/// Without the stray ones, a wrong result could be taken for a right one.
class FailureWatch {
 public:
  FailureWatch();
  void add(const std::shared_ptr<codelets::Failure>& failure);
  /// Forgets the failures that another wait has thrown.
  void forget_told();
  /// @throws RuntimeError with the first failure that was added, or else the last stray one, since this object was made
  ///         or this was last called
  void check();

 private:
  std::atomic<std::uint64_t> strays_seen_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<codelets::Failure>> added_;  ///< guarded by mutex_
};

}  // namespace tessera::detail
