// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

namespace tessera::detail {

/// Counts a tile task for `statistics`.
void count_submitted();

/// Bytes that StarPU has moved since the session began, by the memory nodes that they went from and to.
using BytesByLink = std::map<std::pair<int, int>, std::uint64_t>;
BytesByLink bytes_by_link();

/// Starts `statistics` anew.
void reset_counters();

/// Whether a tile operation has failed since this object was made or last asked. It is not known whose: everyone who
/// was there is told, so that nobody takes a wrong result for a right one.
class FailureWatch {
 public:
  FailureWatch();
  /// @throws RuntimeError with the last failure
  void check();

 private:
  std::atomic<std::uint64_t> seen_;
};

}  // namespace tessera::detail
