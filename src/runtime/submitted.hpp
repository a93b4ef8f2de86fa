// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace tessera::detail
