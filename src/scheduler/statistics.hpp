// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tessera::scheduler {

/// What the policy has done, added up over the workers.
struct Statistics {
  std::uint64_t tasks = 0;         ///< handed to workers
  std::uint64_t own_tiles = 0;     ///< that they read and found in their own memory,
  std::uint64_t peer_tiles = 0;    ///< in that of a peer,
  std::uint64_t far_tiles = 0;     ///< or neither, when the task was reserved
  std::uint64_t steals = 0;        ///< tasks taken from another worker
  double idle_for_tasks = 0;       ///< seconds that workers had nothing to do,
  double idle_for_data = 0;        ///< or had it, and waited for its tiles
  double in_push = 0, in_pop = 0;  ///< seconds that the policy itself took for those tasks
};

}  // namespace tessera::scheduler
