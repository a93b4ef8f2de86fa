// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::trace {

namespace {

int count_nodes(const PajeTrace& trace) {
  int count = std::max(1, trace.nodes);
  for (const auto& [id, worker] : trace.workers) count = std::max(count, worker.node + 1);
  for (const auto& transfer : trace.transfers) count = std::max({count, transfer.from + 1, transfer.to + 1});
  return count;
}

/// Names workers after their devices. Several workers of one GPU are numbered: "GPU 0.1".
void name_by_kind(Run& run, const PajeTrace& trace) {
  using Device = std::pair<std::string, int>;
  std::map<Device, int> drivers, named;
  for (const auto& [id, worker] : trace.workers) drivers[{worker.device, worker.number}]++;
  for (const auto& [id, worker] : trace.workers) {
    const bool gpu = worker.device != "CPU";
    auto name = fmt::format("{} {}", worker.device == "CUDA" ? "GPU" : worker.device, worker.number);
    if (gpu && worker.node != 0) run.nodes[static_cast<std::size_t>(worker.node)] = {name, Kind::Gpu};
    const Device device(worker.device, worker.number);
    if (drivers[device] > 1) name += fmt::format(".{}", named[device]++);
    run.workers[static_cast<std::size_t>(id)] = {name, gpu ? Kind::Gpu : Kind::Host, worker.node};
  }
}

}  // namespace

void add_devices(Run& run, const PajeTrace& trace, const RunJson& run_json, int workers) {
  const int nodes = count_nodes(trace);
  if (!trace.workers.empty()) workers = std::max(workers, trace.workers.rbegin()->first + 1);
  for (int i = 0; i < nodes; i++) run.nodes.push_back({i == 0 ? "host" : fmt::format("NUMA {}", i), Kind::Host});
  for (int i = 0; i < workers; i++) run.workers.push_back({fmt::format("worker {}", i), Kind::Host, 0});
  name_by_kind(run, trace);
  for (const auto& [id, node] : run_json.nodes)
    if (id >= 0 && id < nodes) run.nodes[static_cast<std::size_t>(id)] = node;
  for (const auto& [id, worker] : run_json.workers)
    if (id >= 0 && id < workers && worker.node >= 0 && worker.node < nodes)
      run.workers[static_cast<std::size_t>(id)] = worker;
}

}  // namespace tessera::trace
