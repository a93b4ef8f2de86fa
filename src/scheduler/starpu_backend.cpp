// SPDX-License-Identifier: BSD-3-Clause
#include "starpu_backend.hpp"

#include <starpu_scheduler.h>

#include <array>
#include <cmath>

#include "tile_hints.hpp"

namespace tessera::scheduler {

namespace {

static_assert(host_node == STARPU_MAIN_RAM);

bool is_gpu(unsigned node) { return starpu_node_get_kind(node) != STARPU_CPU_RAM; }

/// Calls function(handle, mode) for the tiles that a task reads or writes, except workspaces and data that it always
/// reads in host memory.
template <typename Function>
void for_each_tile(starpu_task* task, Function function) {
  const unsigned count = STARPU_TASK_GET_NBUFFERS(task);
  for (unsigned i = 0; i < count; i++) {
    const auto mode = STARPU_TASK_GET_MODE(task, i);
    const bool stays_on_host = mode == STARPU_R && task->cl->specific_nodes != 0 &&
                               STARPU_CODELET_GET_NODE(task->cl, i) == STARPU_SPECIFIC_NODE_CPU;
    if (!stays_on_host && (mode & (STARPU_SCRATCH | STARPU_REDUX)) == 0)
      function(STARPU_TASK_GET_HANDLE(task, i), mode);
  }
}

/// Whether a memory has room for a tile, with or without a valid copy.
bool has_room(starpu_data_handle_t tile, int node) {
  int allocated = 0;
  starpu_data_query_status2(tile, node, &allocated, nullptr, nullptr, nullptr);
  return allocated != 0;
}

/// Calls request(task) with a placeholder task that reads a tile and is never submitted. StarPU's functions for single
/// tiles are meant for the thread that submits tasks: a worker that calls them aborts if the tile's invalidation or
/// partitioning has been submitted. StarPU's functions for tasks are meant for schedulers.
template <typename Request>
void request_for_reader(TileId tile, Request request) {
  static starpu_codelet reader = [] {
    starpu_codelet codelet{};
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_R;
    return codelet;
  }();
  // StarPU merges requests of the same task for the same copy, so all requests of a thread have the same task.
  static thread_local starpu_task task;
  starpu_task_init(&task);
  task.cl = &reader;
  task.handles[0] = handle_of(tile);
  request(&task);
  starpu_task_clean(&task);
}

}  // namespace

// --- Questions about tiles -------------------------------------------------------------------------------------------
// These functions read StarPU's state without its locks.

bool StarpuBackend::valid(TileId tile, unsigned node) const {
  int valid = 0;
  starpu_data_query_status2(handle_of(tile), static_cast<int>(node), nullptr, &valid, nullptr, nullptr);
  return valid != 0;
}

bool StarpuBackend::arriving(TileId tile, unsigned node) const {
  int valid = 0, loading = 0, requested = 0;
  starpu_data_query_status2(handle_of(tile), static_cast<int>(node), nullptr, &valid, &loading, &requested);
  return valid == 0 && (loading != 0 || requested != 0);
}

// StarPU divides every link among the GPUs, except an NVLink.
bool StarpuBackend::has_own_wires(unsigned source, unsigned destination) const {
  const int bus = starpu_bus_get_id(static_cast<int>(source), static_cast<int>(destination));
  return bus >= 0 && starpu_bus_get_ngpus(bus) == 1;
}

int StarpuBackend::suggested_home(TileId tile) const { return scheduler::suggested_home(handle_of(tile)); }

bool StarpuBackend::is_planned(TileId tile) const { return scheduler::is_planned(handle_of(tile)); }

bool StarpuBackend::may_fetch(TileId tile) const { return scheduler::may_fetch(handle_of(tile)); }

// --- Questions about workers and tasks -------------------------------------------------------------------------------

bool StarpuBackend::is_member(int worker) const { return starpu_sched_ctx_contains_worker(worker, context_) != 0; }

std::optional<unsigned> StarpuBackend::implementation(TaskId task, int worker) const {
  unsigned number = 0;
  if (starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker), task_of(task), &number) == 0)
    return std::nullopt;
  return number;
}

void StarpuBackend::set_implementation(TaskId task, unsigned number) {
  starpu_task_set_implementation(task_of(task), number);
}

double StarpuBackend::modelled_seconds(TaskId id, int worker) const {
  auto* const task = task_of(id);
  if (task->cl->model == nullptr) return 0;
  const auto number = implementation(id, worker);
  if (!number) return 0;
  const double microseconds =
      starpu_task_worker_expected_length(task, static_cast<unsigned>(worker), context_, *number);
  return std::isfinite(microseconds) && microseconds > 0 ? 1e-6 * microseconds : 0;
}

void StarpuBackend::set_counted(TaskId task, bool counted) { task_of(task)->prefetched = counted ? 1 : 0; }

TaskPtr describe(starpu_task* task) {
  auto description = std::make_unique<Task>();
  description->id = id_of(task);
  description->codelet = reinterpret_cast<CodeletId>(task->cl);
  description->flops = task->flops;
  description->priority = task->priority;
  description->restricted = task->workerids_len > 0 || task->cl->can_execute != nullptr;
  description->tiles = tiles_of(task);
  description->output = output_of(description->tiles);
  for (const auto& use : description->tiles) {
    description->memory += use.memory;
    if (use.tile == description->output) description->output_memory = use.memory;
  }
  return description;
}

std::vector<TileUse> submitted_tiles(starpu_task* task) {
  std::vector<TileUse> tiles;
  tiles.reserve(STARPU_TASK_GET_NBUFFERS(task));
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    tiles.push_back({.tile = id_of(tile),
                     .reads = (mode & STARPU_R) != 0,
                     .writes = (mode & STARPU_W) != 0,
                     .only_reads = mode == STARPU_R});
  });
  return tiles;
}

std::vector<TileUse> tiles_of(starpu_task* task) {
  auto tiles = submitted_tiles(task);
  for (auto& use : tiles) {
    use.bytes = starpu_data_get_size(handle_of(use.tile));
    use.memory = starpu_data_get_alloc_size(handle_of(use.tile));
    use.home = starpu_data_get_home_node(handle_of(use.tile));
  }
  return tiles;
}

// --- Devices and links -----------------------------------------------------------------------------------------------

std::string name_of(int worker) {
  std::array<char, 256> name{};
  starpu_worker_get_name(worker, name.data(), name.size());
  return name.data();
}

Links measured_links() {
  const unsigned nodes = starpu_memory_nodes_get_count();
  Links links{std::vector<bool>(nodes), std::vector(nodes, std::vector<double>(nodes))};
  for (unsigned node = 0; node < nodes; node++) {
    links.is_gpu[node] = is_gpu(node);
    for (unsigned source = 0; source < nodes; source++)
      if (source != node) links.rate[source][node] = starpu_transfer_bandwidth(source, node);
  }
  return links;
}

void prefetch(TileId tile, unsigned node, int priority) {
  request_for_reader(tile,
                     [&](starpu_task* reader) { starpu_prefetch_task_input_on_node_prio(reader, node, priority); });
}

void prefetch_for_no_task(TileId tile, unsigned node, int priority) {
  request_for_reader(
      tile, [&](starpu_task* reader) { starpu_idle_prefetch_task_input_on_node_prio(reader, node, priority); });
}

void write_back(const std::vector<TileId>& tiles) {
  for (auto* const tile : tiles)
    if (const int home = starpu_data_get_home_node(handle_of(tile)); has_room(handle_of(tile), home))
      prefetch_for_no_task(tile, static_cast<unsigned>(home), STARPU_DEFAULT_PRIO);
}

}  // namespace tessera::scheduler
