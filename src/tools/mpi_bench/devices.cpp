// SPDX-License-Identifier: BSD-3-Clause
#include "devices.hpp"

#include <starpu.h>

#include <algorithm>

#include "shared/bad_argument.hpp"

namespace tessera::mpi_bench {

Devices devices_of_process() {
  Devices devices;
  for (unsigned worker = 0; worker < starpu_worker_get_count(); worker++) {
    const auto node = static_cast<int>(starpu_worker_get_memory_node(worker));
    if (node == STARPU_MAIN_RAM || std::ranges::find(devices.nodes, node) != devices.nodes.end()) continue;
    // If there are GPUs, CPU workers run only the program's own tasks.
    const bool cpu = starpu_node_get_kind(static_cast<unsigned>(node)) == STARPU_CPU_RAM;
    if (cpu && starpu_cuda_worker_get_count() > 0) continue;
    devices.nodes.push_back(node);
    const auto total = static_cast<double>(starpu_memory_get_total(static_cast<unsigned>(node)));
    if (total > 0 && (devices.memory == 0 || total < devices.memory)) devices.memory = total;
  }
  return devices;
}

void use_devices_only() {
  std::vector<int> far;
  for (unsigned worker = 0; worker < starpu_worker_get_count(); worker++)
    if (starpu_worker_get_memory_node(worker) != STARPU_MAIN_RAM) far.push_back(static_cast<int>(worker));
  if (far.empty()) throw tools::BadArgument("--numa-as-gpu: all workers use the memory of the first NUMA node");
  static unsigned context = starpu_sched_ctx_create(far.data(), static_cast<int>(far.size()), "devices",
                                                    STARPU_SCHED_CTX_POLICY_STRUCT, starpu_sched_get_sched_policy(), 0);
  starpu_sched_ctx_set_context(&context);
}

BusLoads loads_between(const Devices& devices, const detail::BytesByLink& before, const detail::BytesByLink& after) {
  BusLoads loads;
  const auto is_device = [&](int node) { return std::ranges::find(devices.nodes, node) != devices.nodes.end(); };
  for (const auto& [link, total] : after) {
    const auto [from, to] = link;
    const auto earlier = before.find(link);
    const double bytes = static_cast<double>(total - (earlier == before.end() ? 0 : earlier->second)) /
                         static_cast<double>(std::max<std::size_t>(devices.nodes.size(), 1));
    if (is_device(to)) (is_device(from) ? loads.from_peers : loads.from_host) += bytes;
    else if (is_device(from)) loads.to_host += bytes;
  }
  return loads;
}

}  // namespace tessera::mpi_bench
