// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace tessera::detail {

/// Counts a tile task for `statistics`.
void count_submitted();

/// Bytes that StarPU has moved since the session began, by source and target memory node.
using BytesByLink = std::map<std::pair<int, int>, std::uint64_t>;
BytesByLink bytes_by_link();

/// Resets the counters of `statistics` to zero.
void reset_counters();

}  // namespace tessera::detail
