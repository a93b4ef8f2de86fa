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

/// Failures that somebody is to be told of: those that are added, and those of which it is not known whose they are,
/// so that nobody takes a wrong result for a right one.
class FailureWatch {
 public:
  FailureWatch();
  void add(const std::shared_ptr<codelets::Failure>& failure);
  /// Forgets those that somebody else has been told of.
  void forget_told();
  /// @throws RuntimeError with the first failure that was added, or the last that is not known to be somebody's, since
  ///         this object was made or last asked
  void check();

 private:
  std::atomic<std::uint64_t> strays_seen_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<codelets::Failure>> added_;  ///< guarded by mutex_
};

}  // namespace tessera::detail
