// SPDX-License-Identifier: BSD-3-Clause
#include "devices/gpu.hpp"

#include "common/of_type.hpp"
#include "devices/panels_on_cores.hpp"
#include "machine_description.hpp"

/// The GPUs of a described machine.
namespace tessera::device::gpu {

using simulated::described_machine, simulated::operands_are_on_a_gpu, simulated::operands_are_pageable;

Probe probe(int wanted, int first) {
  Probe found;
  const int count = described_machine().gpu_count();
  for (int gpu = first; gpu < (wanted < 0 ? count : std::min(first + wanted, count)); gpu++) {
    const auto& kind = described_machine().kind_of(gpu);
    const auto memory = static_cast<std::size_t>(kind.memory);
    found.usable.push_back({gpu, kind.name, memory, memory});
  }
  return found;
}

std::vector<std::string> visible_devices() {
  std::vector<std::string> names;
  for (const auto& gpu : probe(-1).usable) names.push_back(gpu.name);
  return names;
}

bool is_pinned(const void* /*data*/, std::size_t /*bytes*/) { return !operands_are_pageable; }

std::optional<int> device_of(const void* /*data*/) { return operands_are_on_a_gpu ? std::optional(0) : std::nullopt; }

/// Returns the rates of the description without copying anything.
LinkRates measure_links(const std::vector<int>& devices, std::size_t /*bytes*/) {
  const auto& machine = described_machine();
  LinkRates rates;
  for (const int device : devices) {
    const auto& gpu = machine.gpus[static_cast<std::size_t>(device)];
    rates.h2d.push_back(gpu.in), rates.d2h.push_back(gpu.out), rates.latency.push_back(gpu.latency);
    auto& row = rates.peer.emplace_back();
    for (const int other : devices) row.push_back(machine.peer(device, other).rate);
  }
  rates.h2d_together = machine.total_in(static_cast<int>(devices.size()));
  rates.d2h_together = machine.total_out(static_cast<int>(devices.size()));
  rates.both_together = machine.total_both(static_cast<int>(devices.size()));
  rates.peers_together = machine.peers_together;
  return rates;
}

/// In simulations, copies of long columns do not slow down while kernels run.
BusyLinks measure_busy_links(const std::vector<int>& devices, int /*n*/, std::size_t /*bytes*/, double /*seconds*/) {
  const auto& machine = described_machine();
  const auto count = static_cast<int>(devices.size());
  return {machine.total_in(count), machine.total_out(count), machine.total_both(count)};
}

BusyLinks measure_links_of_first(const std::vector<int>& devices, int /*n*/, std::size_t /*bytes*/,
                                 double /*seconds*/) {
  const auto& machine = described_machine();
  double rate = 0;
  for (std::size_t i = 1; i < devices.size(); i++) rate += machine.peer(devices.front(), devices[i]).rate;
  if (machine.peers_together > 0) rate = std::min(rate, machine.peers_together);
  return {rate, rate, 2 * rate};
}

double product_seconds(char type, const std::vector<int>& devices, int n, double /*seconds*/) {
  double slowest = 0;
  for (const int device : devices) slowest = std::max(slowest, kernel_seconds(type, device, n));
  return slowest;
}

bool factorizes_beside_products() {
  const auto& machine = described_machine();
  return machine.gpu_count() > 0 && machine.kind_of(0).panels && machine.kind_of(0).panels->beside &&
         machine.panel_rate == 0;  // otherwise cores factorize panels
}

double panel_rate_of_cores() { return described_machine().panel_rate; }

double kernel_seconds(char type, int device, int n) {
  const auto& kind = described_machine().kind_of(device);
  const double side = n;
  const double flops = common::with_type(type, [](auto zero) { return flops_per_multiply_add<decltype(zero)>; });
  return kind.task_seconds("gemm", {flops * side * side * side, type}) - kind.task_overhead;
}

}  // namespace tessera::device::gpu
