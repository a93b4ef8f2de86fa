// SPDX-License-Identifier: BSD-3-Clause
// StarPU's own hint, `starpu_data_wont_use`, accesses the tile as a reader, and has two weaknesses. It takes effect
// while tasks that read the tile are still queued, and these tasks undo it. Its access also ends before the copy to the
// tile's home is requested, so the program may invalidate the tile in between, which aborts.
//
// This implementation therefore places the hint between two accesses that do nothing. The first access waits for all
// earlier tasks, and all later accesses wait for the second one. The first access ends only after the hint and the
// second access have been submitted, so StarPU runs both while it ends the first one.
#include "wont_use.hpp"

#include <atomic>

namespace tessera::scheduler {

namespace {

void end_access(starpu_data_handle_t tile) { starpu_data_release_on_node(tile, STARPU_ACQUIRE_NO_NODE); }

struct FirstAccess {
  starpu_data_handle_t tile;
  std::atomic<int> awaited = 2;  ///< the earlier tasks, and the submission of the hint and the second access
};

/// Ends the first access at the second call. One call comes when all earlier tasks have ended, the other from the
/// thread that submits the hint.
void proceed(FirstAccess* first) {
  if (--first->awaited > 0) return;
  auto* const tile = first->tile;
  delete first;
  end_access(tile);
}

}  // namespace

void wont_use(starpu_data_handle_t tile) {
  auto* const first = new FirstAccess{tile};
  starpu_data_acquire_on_node_cb(
      tile, STARPU_ACQUIRE_NO_NODE, STARPU_NONE, [](void* begun) { proceed(static_cast<FirstAccess*>(begun)); }, first);
  starpu_data_wont_use(tile);
  starpu_data_acquire_on_node_cb(
      tile, STARPU_ACQUIRE_NO_NODE, STARPU_NONE,
      [](void* begun) { end_access(static_cast<starpu_data_handle_t>(begun)); }, tile);
  proceed(first);
}

}  // namespace tessera::scheduler
