// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <starpu.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "simulated.hpp"

namespace tessera::mpi_bench {

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
    const auto buses = detail::bytes_by_link();
    const double start = starpu_timing_now();
    problem.run();
    const double mine = 1e-6 * (starpu_timing_now() - start);
    const double slowest = combined(grid, mine, MPI_MAX);
    if (call > 0) seconds.push_back(slowest);
    grid.wait();  // all messages must have been counted
    result.received = bytes_received(grid, before);
    result.loads = mean_of_processes(grid, loads_between(devices, buses, detail::bytes_by_link()));
  }
  std::ranges::sort(seconds);
  result.seconds = seconds[seconds.size() / 2];
  if (check) result.residual = problem.residual();
  return result;
}

}  // namespace tessera::mpi_bench
