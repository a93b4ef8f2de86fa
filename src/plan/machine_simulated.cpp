// SPDX-License-Identifier: BSD-3-Clause
// Builds the model of a machine from its description in a file.
#include <starpu.h>

#include <map>
#include <vector>

#include "common/of_type.hpp"
#include "devices/simulated/machine_description.hpp"
#include "machine/machine.hpp"
#include "machine/machine_rates.hpp"
#include "machine_model.hpp"

namespace tessera::plan {

namespace {

template <typename Times>
ColumnTimes columns(const std::optional<Times>& times) {
  return times ? ColumnTimes{times->idle, times->computing} : ColumnTimes{};
}

Gpu describe(const device::simulated::Machine& machine, int number, char type) {
  const auto& kind = machine.kind_of(number);
  const auto& gpu = machine.gpus[static_cast<std::size_t>(number)];
  Gpu model;
  for (const auto& [operation, curve] : kind.kernels) {
    auto points = curve.points();
    for (auto& point : points) point.seconds *= kind.types.at(type);
    model.kernels[operation] = device::CostCurve(std::move(points));
  }
  if (const auto& panels = kind.panels) {
    const auto add = [&](const char* operation, const device::CostCurve& by_rows) {
      constexpr double any = 1;  // a column takes as long in a panel of any width
      model.panels[operation].add(any, by_rows);
    };
    add("getrf", panels->alone), add("geqrf", panels->alone);
    if (panels->beside) {
      add("getrf_beside_updates", panels->beside->columns);
      model.products_beside = panels->beside->products;
    }
  }
  model.memory_rate = kind.memory_rate, model.overhead = kind.task_overhead;
  model.in_rate = gpu.in, model.out_rate = gpu.out, model.latency = gpu.latency, model.half_duplex = gpu.half_duplex;
  model.in = columns(kind.in), model.out = columns(kind.out);
  return model;
}

/// The model of the GPUs of a described machine.
Machine describe(const device::simulated::Machine& machine, const std::vector<int>& gpus, char type,
                 double element_size, double flops_per_multiply_add) {
  Machine model;
  model.element_size = element_size, model.flops_per_multiply_add = flops_per_multiply_add;
  for (const int number : gpus) {
    model.gpus.push_back(describe(machine, number, type));
    model.gpus.back().alike_first =
        machine.gpus[static_cast<std::size_t>(number)].kind == machine.gpus[static_cast<std::size_t>(gpus[0])].kind;
    auto& row = model.peers.emplace_back();
    for (const int other : gpus) {
      const auto& link = machine.peer(number, other);
      row.push_back({link.way == device::simulated::PeerLink::Way::None ? 0 : link.rate, link.latency,
                     link.way == device::simulated::PeerLink::Way::Bus});
    }
  }
  model.peers_together = machine.peers_together;
  if (machine.staging) model.staging.rate = machine.staging->rate, model.staging.core_rate = machine.staging->core_rate;
  for (const auto& link : machine.shared) {
    SharedLink shared{0, link.in, link.out, link.both};
    for (std::size_t i = 0; i < gpus.size(); i++)
      if (link.contains(gpus[i])) shared.gpus |= 1U << i;
    if (shared.gpus != 0) model.shared.push_back(shared);
  }
  return model;
}

}  // namespace

const Machine& model_of(const machine::Machine& machine, char type) {
  static std::map<char, Machine> models;  // a simulated process has one session
  const auto [found, is_new] = models.try_emplace(type);
  auto& model = found->second;
  if (!is_new) return model;
  model = describe(device::simulated::described_machine(), machine.gpus, type,
                   static_cast<double>(common::size_of(type)), common::flops_of_multiply_add(type));
  model.memory = machine.gpu_memory;
  model.core.kernels["gemm"] = machine::machine_rates(machine, type).cpu;
  set_cores(model, machine, type);
  return model;
}

double expected_seconds(const char* operation, const device::Work& work, int worker) {
  const auto& machine = device::simulated::described_machine();
  if (starpu_worker_get_type(worker) != STARPU_CUDA_WORKER) {
    const bool by_all_cores = work.columns > 0 && machine.panel_rate > 0;
    return work.flops /
           device::simulated::rate_of_cores(work.type, by_all_cores ? machine.panel_rate : machine.core_rate);
  }
  return machine.kind_of(starpu_worker_get_devid(worker)).task_seconds(operation, work);
}

namespace {

void set_costs(const machine::Machine& /*machine*/) { codelets::set_cost_function(expected_seconds); }

[[maybe_unused]] const bool is_set = (machine::planning().set_costs = set_costs, true);

}  // namespace

}  // namespace tessera::plan
