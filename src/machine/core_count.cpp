// SPDX-License-Identifier: BSD-3-Clause
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "control_groups.hpp"
#include "machine_rates.hpp"

namespace tessera::detail {

namespace {

struct Free {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};

/// The cores on which this process may run, each counted once, however many threads it runs at a time: StarPU binds one
/// worker to a core.
int allowed_cores() {
  hwloc_topology_t loaded = nullptr;
  if (hwloc_topology_init(&loaded) != 0) return 1;
  const std::unique_ptr<hwloc_topology, Free> topology(loaded);
  const std::unique_ptr<hwloc_bitmap_s, Free> allowed(hwloc_bitmap_alloc());
  if (allowed == nullptr || hwloc_topology_load(loaded) != 0 ||
      hwloc_get_cpubind(loaded, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0)
    return 1;
  int count = 0;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(loaded, HWLOC_OBJ_CORE, core)) != nullptr;)
    count += hwloc_bitmap_intersects(core->cpuset, allowed.get());
  return std::max(1, count);
}

}  // namespace

int core_count() {
  const double cores = std::min<double>(allowed_cores(), ControlGroups::of_system().processors());
  return std::max(1, static_cast<int>(cores));
}

int granted_cores() {
  return ControlGroups::of_system().processors() < std::thread::hardware_concurrency() ? core_count() : -1;
}

}  // namespace tessera::detail
