// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::common {
struct Failure;
}

namespace tessera::runtime {

/// Collects failures for a thread that will wait: failures that are added, and stray failures, which belong to no known
/// tile. Stray failures count too, because any result may be wrong because of them.
class FailureWatch {
 public:
  FailureWatch();
  void add(const std::shared_ptr<common::Failure>& failure);
  /// Forgets failures that another wait has already reported.
  void forget_told();
  /// @throws RuntimeError with the first failure that was added since the construction or the last call of this
  ///         function, or else the last stray failure since then
  void check();

 private:
  std::atomic<std::uint64_t> strays_seen_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<common::Failure>> added_;  ///< guarded by mutex_
};

}  // namespace tessera::runtime
