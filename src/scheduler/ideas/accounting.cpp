// SPDX-License-Identifier: BSD-3-Clause
#include "accounting.hpp"

namespace tessera::scheduler {

void count_hits(State& state, const Worker& worker, const Task& task) {
  if (!state.cache.distributed()) return;
  for (const auto& use : task.tiles) {
    if (!use.reads) continue;
    switch (state.cache.level(use.tile, worker.node)) {
    case TileCache::Level::Own: state.counts.own_tiles++; break;
    case TileCache::Level::Peer: state.counts.peer_tiles++; break;
    case TileCache::Level::Far: state.counts.far_tiles++; break;
    }
  }
}

void count_idle(State& state, Worker& worker, double now) {
  auto& counts = state.counts;
  if (worker.idle_since > 0) {
    if (!worker.idle_for_data) counts.idle_for_tasks += now - worker.idle_since;
    else if (worker.kind != cpu_kind) counts.idle_for_data += now - worker.idle_since;
  }
  const bool has_run = worker.idle_since > 0 || worker.started > 0;
  worker.idle_for_data = worker.has_work();
  worker.idle_since = has_run || worker.idle_for_data ? now : 0;
}

const tessera_sched_counts& count_until(State& state, double now) {
  for (auto* worker : state.members)
    if (!worker->runs()) count_idle(state, *worker, now);
  return state.counts;
}

}  // namespace tessera::scheduler
