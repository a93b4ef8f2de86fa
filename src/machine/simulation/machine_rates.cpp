// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine_rates.hpp"

#include <starpu.h>

#include "machine/machine.hpp"
#include "machine/simulation/machine.hpp"

/// The rates of a described machine. They involve no clock, so simulations are repeatable.
namespace tessera::detail {

namespace {

using simulation::described_machine;

/// Cores are twice as fast in single precision. A complex flop takes as long as a real one.
/// @param rate  in double precision
double core_seconds(char type, double flops, double rate) {
  const bool single = type == 's' || type == 'c';
  return flops / (rate * (single ? 2 : 1));
}

template <Scalar T>
MachineRates describe(const Machine& machine) {
  const double flops = flops_per_multiply_add<T> * 256 * 256 * 256;
  MachineRates rates;
  rates.cpu = CostCurve({{flops, core_seconds(type_letter<T>, flops, described_machine().core_rate)}});
  if (machine.gpu_count() == 0) return rates;
  const int first = machine.gpus.front();
  const auto& kind = described_machine().kind_of(first);
  std::vector<CostCurve::Point> points;
  for (const auto& point :
       kind.kernels.at("gemm").points())  // a complex tile of the same order has four times the flops
    points.push_back({point.amount * flops_per_multiply_add<T> / flops_per_multiply_add<double>, 0});
  for (auto& point : points)
    point.seconds = kind.types.at(type_letter<T>) * kind.kernels.at("gemm").seconds(point.amount);
  rates.gpu = CostCurve(std::move(points));
  double all = 0;
  for (const int gpu : machine.gpus) all += described_machine().kind_of(gpu).best_rate(type_letter<T>);
  rates.others = all / machine.gpu_count() / kind.best_rate(type_letter<T>);
  if (kind.in) rates.column = kind.in->computing;
  rates.link = described_machine().gpus[static_cast<std::size_t>(first)].in;
  return rates;
}

}  // namespace

void measure_gpu_rates(const Machine& /*machine*/) {}  // a described GPU needs no measurement
void measure_operations(const Machine& /*machine*/, bool /*may_run*/) {}
void set_operation_timer(TimeOperations /*time*/) {}

template <Scalar T>
const MachineRates& machine_rates(const Machine& machine) {
  static const MachineRates rates = describe<T>(machine);  // a simulated process has only one Runtime
  return rates;
}

template const MachineRates& machine_rates<float>(const Machine&);
template const MachineRates& machine_rates<double>(const Machine&);
template const MachineRates& machine_rates<std::complex<float>>(const Machine&);
template const MachineRates& machine_rates<std::complex<double>>(const Machine&);

template <Scalar T>
MachineRates rates_before_start(const Machine& machine) {
  return describe<T>(machine);
}

template MachineRates rates_before_start<float>(const Machine&);
template MachineRates rates_before_start<double>(const Machine&);

int core_count() { return described_machine().cores; }
int granted_cores() { return -1; }

void finish_measuring() {}

double expected_seconds(const char* operation, const codelets::Work& work, int worker) {
  const auto& machine = described_machine();
  if (starpu_worker_get_type(worker) != STARPU_CUDA_WORKER) {
    const bool by_all_cores = work.columns > 0 && machine.panel_rate > 0;
    return core_seconds(work.type, work.flops, by_all_cores ? machine.panel_rate : machine.core_rate);
  }
  return machine.kind_of(starpu_worker_get_devid(worker)).task_seconds(operation, work);
}

}  // namespace tessera::detail
