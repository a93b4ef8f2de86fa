// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include "clock.hpp"

namespace tessera::scheduler {

void Policy::count_hits(const Worker& worker, starpu_task* task) {
  if (!cache_->distributed()) return;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if ((mode & STARPU_R) == 0) return;
    switch (cache_->level(tile, worker.node)) {
    case TileCache::Level::Own: statistics_.own_tiles++; break;
    case TileCache::Level::Peer: statistics_.peer_tiles++; break;
    case TileCache::Level::Far: statistics_.far_tiles++; break;
    }
  });
}

/// Adds up the time since the last look at a worker that runs nothing, by why that was so.
void Policy::count_idle(Worker& worker) {
  const double time = now();
  if (worker.idle_since > 0)
    (worker.idle_for_data ? statistics_.idle_for_data : statistics_.idle_for_tasks) += time - worker.idle_since;
  const bool has_run = worker.idle_since > 0 || worker.started > 0;
  worker.idle_for_data = worker.has_work();
  worker.idle_since = has_run || worker.idle_for_data ? time : 0;
}

tessera_sched_counts Policy::statistics() {
  const Lock lock(mutex_);
  for (auto* worker : members_)
    if (!worker->runs()) count_idle(*worker);
  return statistics_;
}

}  // namespace tessera::scheduler
