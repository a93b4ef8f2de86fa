// SPDX-License-Identifier: BSD-3-Clause
#include "counters.hpp"

#include <starpu.h>

#include <atomic>
#include <mutex>

#include <tessera/sched.h>
#include <tessera/runtime.hpp>

#include "devices/gpu_workers.hpp"
#include "process_session.hpp"
#include "session.hpp"

namespace tessera::runtime {

namespace {

std::atomic<std::uint64_t> submitted{0};

/// The difference between two readings of the policy's counts.
PolicyStatistics since(const PolicyStatistics& before, const PolicyStatistics& now) {
  if (now.tasks < before.tasks) return now;  // the policy has been restarted and counts from zero
  return {now.tasks - before.tasks,
          now.own_tiles - before.own_tiles,
          now.peer_tiles - before.peer_tiles,
          now.far_tiles - before.far_tiles,
          now.steals - before.steals,
          now.idle_for_tasks - before.idle_for_tasks,
          now.idle_for_data - before.idle_for_data,
          now.in_push - before.in_push,
          now.in_pop - before.in_pop};
}

constexpr unsigned first_context = 0;
constexpr int host = -1;

/// The memory node of a GPU, or `host` for all nodes of the host.
int device_at(int node) { return device::gpu_workers::is_gpu_memory(static_cast<unsigned>(node)) ? node : host; }

/// Counts since the last reset.
class Counters {
 public:
  Statistics read(const std::vector<unsigned>& gpu_nodes) {
    const std::lock_guard lock(mutex_);
    collect_bytes();
    Statistics result;
    result.seconds = 1e-6 * (starpu_timing_now() - begin_);
    result.tasks = submitted - tasks_before_;
    std::map<int, int> index{{host, -1}};
    for (const auto node : gpu_nodes) index.emplace(static_cast<int>(node), static_cast<int>(index.size()) - 1);
    for (const auto& [ends, bytes] : bytes_) {
      const auto& [from, to] = ends;
      (from == host ? result.bytes_h2d : to == host ? result.bytes_d2h : result.bytes_d2d) += bytes;
      if (index.contains(from) && index.contains(to)) result.links.push_back({index[from], index[to], bytes});
    }
    PolicyStatistics policy{};
    if (tessera_sched_statistics(first_context, &policy) == 0) result.policy = since(policy_before_, policy);
    return result;
  }

  void add(int from_node, int to_node, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    add_unlocked(from_node, to_node, bytes);
  }

  BytesByLink by_node() {
    const std::lock_guard lock(mutex_);
    collect_bytes();
    return by_node_;
  }

  void reset() {
    const std::lock_guard lock(mutex_);
    collect_bytes();
    bytes_.clear();
    begin_ = starpu_timing_now();
    tasks_before_ = submitted;
    policy_before_ = {};
    tessera_sched_statistics(first_context, &policy_before_);
  }

 private:
  /// Adds StarPU's counts to this object's counts. Reading resets StarPU's counts to zero.
  void collect_bytes() {
    for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
      starpu_profiling_bus_info info{};
      starpu_bus_get_profiling_info(bus, &info);
      add_unlocked(starpu_bus_get_src(bus), starpu_bus_get_dst(bus),
                   static_cast<std::uint64_t>(info.transferred_bytes));
    }
  }
  void add_unlocked(int from_node, int to_node, std::uint64_t bytes) {
    if (bytes == 0) return;
    by_node_[{from_node, to_node}] += bytes;
    const int from = device_at(from_node), to = device_at(to_node);
    if (from != to) bytes_[{from, to}] += bytes;  // excludes copies between NUMA nodes
  }

  std::mutex mutex_;
  double begin_ = 0;                                    ///< µs
  std::map<std::pair<int, int>, std::uint64_t> bytes_;  ///< by source and destination, as numbered by `device_at`
  BytesByLink by_node_;                                 ///< never reset
  std::uint64_t tasks_before_ = 0;
  PolicyStatistics policy_before_{};
};

// Never destroyed: a session whose recording reads them may end while the process exits.
auto& counters = *new Counters;

}  // namespace

void count_submitted() { submitted.fetch_add(1, std::memory_order_relaxed); }

void count_copied(int from_node, int to_node, std::uint64_t bytes) { counters.add(from_node, to_node, bytes); }

BytesByLink bytes_by_link() { return counters.by_node(); }

void reset_counters() { counters.reset(); }

Statistics read_counters(const std::vector<unsigned>& gpu_nodes) { return counters.read(gpu_nodes); }

}  // namespace tessera::runtime

namespace tessera {

Statistics statistics() {
  const auto session = runtime::session();
  std::vector<unsigned> nodes;
  for (const auto& workers : session->machine().gpu_workers)
    nodes.push_back(starpu_worker_get_memory_node(static_cast<unsigned>(workers.front())));
  return runtime::read_counters(nodes);
}

void reset_statistics() {
  const auto session = runtime::session();  // starts StarPU, which keeps the counts
  runtime::reset_counters();
}

}  // namespace tessera
