// SPDX-License-Identifier: BSD-3-Clause
#include "machine_rates.hpp"

#include <starpu.h>

#include "devices/simulated/machine_description.hpp"
#include "machine.hpp"

/// The rates of a described machine. They involve no clock, so simulations are repeatable.
namespace tessera::machine {

namespace {

using device::simulated::described_machine;

MachineRates describe(const Machine& machine, char type) {
  const double flops = common::flops_of_multiply_add(type) * 256 * 256 * 256;
  MachineRates rates;
  rates.cpu =
      device::CostCurve({{flops, flops / device::simulated::rate_of_cores(type, described_machine().core_rate)}});
  if (machine.gpu_count() == 0) return rates;
  const int first = machine.gpus.front();
  const auto& kind = described_machine().kind_of(first);
  std::vector<device::CostCurve::Point> points;
  for (const auto& point :
       kind.kernels.at("gemm").points())  // a complex tile of the same order has four times the flops
    points.push_back({point.amount * common::flops_of_multiply_add(type) / flops_per_multiply_add<double>, 0});
  for (auto& point : points) point.seconds = kind.types.at(type) * kind.kernels.at("gemm").seconds(point.amount);
  rates.gpu = device::CostCurve(std::move(points));
  double all = 0;
  for (const int gpu : machine.gpus) all += described_machine().kind_of(gpu).best_rate(type);
  rates.others = all / machine.gpu_count() / kind.best_rate(type);
  if (kind.in) rates.columns.computing = kind.in->computing;
  rates.link = described_machine().gpus[static_cast<std::size_t>(first)].in;
  return rates;
}

}  // namespace

void measure_gpu_rates(const Machine& /*machine*/) {}  // a described GPU needs no measurement
void measure_operations(const Machine& /*machine*/, bool /*may_run*/) {}

const MachineRates& machine_rates(const Machine& machine, char type) {
  return common::with_type(type, [&]<Scalar T>(T) -> const MachineRates& {
    static const MachineRates rates = describe(machine, type);  // a simulated process has only one Runtime
    return rates;
  });
}

MachineRates rates_before_start(const Machine& machine, char type) { return describe(machine, type); }

int core_count() { return described_machine().cores; }
int granted_cores() { return -1; }

void finish_measuring() {}

}  // namespace tessera::machine
