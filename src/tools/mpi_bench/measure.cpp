// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_bench/measure.hpp"

#include <starpu.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "mpi_bench/simulated.hpp"
#include "shared/exit_code.hpp"

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

BusLoads loads_between(const Devices& devices, const runtime::BytesByLink& before, const runtime::BytesByLink& after) {
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

namespace {

std::vector<std::uint64_t> bytes_received(const Grid& grid, const std::vector<std::uint64_t>& before) {
  auto sent = grid.bytes_sent();
  std::transform(sent.begin(), sent.end(), before.begin(), sent.begin(), std::minus<>());
  std::vector<std::uint64_t> received(sent.size());
  MPI_Allreduce(sent.data(), received.data(), static_cast<int>(sent.size()), MPI_UINT64_T, MPI_SUM, grid.comm());
  return received;
}

double combined(const Grid& grid, double mine, MPI_Op how) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, how, grid.comm());
  return all;
}

BusLoads mean_of_processes(const Grid& grid, const BusLoads& mine) {
  const auto mean = [&](double x) { return combined(grid, x, MPI_SUM) / (grid.p() * grid.q()); };
  return {mean(mine.from_host), mean(mine.from_peers), mean(mine.to_host)};
}

}  // namespace

double Result::mean_received() const {
  return std::accumulate(received.begin(), received.end(), 0.0) / static_cast<double>(received.size());
}

Result measure(const Grid& grid, Problem& problem, int repeat, bool check) {
  std::vector<double> seconds;
  Result result;
  const auto devices = devices_of_process();
  result.devices = static_cast<int>(combined(grid, static_cast<double>(devices.nodes.size()), MPI_MIN));
  result.device_memory = combined(grid, devices.memory, MPI_MIN);
  for (int call = simulated ? 1 : 0; call <= repeat; call++) {  // warm-up only in real time
    problem.fill();
    grid.wait();
    const auto before = grid.bytes_sent();
    const auto buses = runtime::bytes_by_link();
    // Otherwise the time of a process would include what another one still fills. A simulation fills nothing.
    if (!simulated) MPI_Barrier(grid.comm());
    const double start = starpu_timing_now();
    problem.run();
    const double mine = 1e-6 * (starpu_timing_now() - start);
    const double slowest = combined(grid, mine, MPI_MAX);
    if (call > 0) seconds.push_back(slowest);
    grid.wait();  // all messages must have been counted
    result.received = bytes_received(grid, before);
    result.loads = mean_of_processes(grid, loads_between(devices, buses, runtime::bytes_by_link()));
  }
  std::ranges::sort(seconds);
  result.seconds = (seconds[(seconds.size() - 1) / 2] + seconds[seconds.size() / 2]) / 2;  // the median
  if (check) result.residual = problem.residual();
  return result;
}

}  // namespace tessera::mpi_bench
