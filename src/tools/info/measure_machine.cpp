// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <thread>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "info/machine_file.hpp"
#include "machine/machine_rates.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::info {

namespace {

/// Measures products of increasing size until one takes long.
/// @param devices  GPUs of one kind
std::vector<MeasuredProduct> measure_products(char type, const std::vector<int>& devices, int largest) {
  constexpr double long_enough = 0.1;  // [s]
  std::vector<MeasuredProduct> products;
  for (int n = 256; n <= largest && (products.empty() || products.back().seconds < long_enough); n *= 2)
    products.push_back({n, n < 2048 ? device::gpu::kernel_seconds(type, devices.front(), n)
                                    : device::gpu::product_seconds(type, devices, n, 0.3)});
  return products;
}

device::CostCurve measure_columns(int device) {
  const std::vector<std::size_t> bytes{std::size_t{1} << 12, std::size_t{1} << 14, std::size_t{1} << 15,
                                       std::size_t{1} << 16};
  const auto seconds = device::gpu::column_seconds(device, bytes, device::gpu::measured_apart, true);
  std::vector<device::CostCurve::Point> points;
  for (std::size_t i = 0; i < bytes.size(); i++) points.push_back({static_cast<double>(bytes[i]), seconds[i]});
  return device::CostCurve(std::move(points));
}

/// The rate of one core in double precision, as the library measures it.
double measure_core() {
  RuntimeOptions options;
  options.cpus = 1, options.gpus = 0, options.policy = "tessera";
  const Runtime runtime(options);
  return machine::machine_rates<double>(runtime::session()->machine()).cpu.best_rate();
}

}  // namespace

MeasuredMachine measure_machine(int gpus) {
  const auto probe = device::gpu::probe(gpus);
  if (probe.usable.empty())
    throw RuntimeError("--describe needs a GPU, but there is none" +
                       (probe.unusable.empty() ? "" : ": " + probe.unusable.front()));
  MeasuredMachine machine;
  machine.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  machine.conditions = device::gpu::state(probe.usable.front().ordinal).conditions;
  std::vector<int> ordinals;
  std::size_t link_bytes = std::size_t{256} << 20;
  std::vector<std::vector<int>> of_kind;
  for (const auto& info : probe.usable) {
    auto kind = static_cast<std::size_t>(std::ranges::find(machine.kinds, info.name, &MeasuredKind::name) -
                                         machine.kinds.begin());
    if (kind == machine.kinds.size()) {
      machine.kinds.push_back({.name = info.name, .memory = static_cast<double>(info.memory)});
      of_kind.emplace_back();
    }
    machine.gpus.push_back(kind), of_kind[kind].push_back(info.ordinal), ordinals.push_back(info.ordinal);
    link_bytes = std::min(link_bytes, info.memory / 8);
    machine.places.push_back(device::gpu_places().at(static_cast<std::size_t>(info.ordinal)));
  }
  machine.links = device::gpu::measure_links(ordinals, link_bytes);
  for (std::size_t k = 0; k < machine.kinds.size(); k++) {
    auto& kind = machine.kinds[k];
    kind.memory_rate = device::gpu::memory_rate(of_kind[k].front(), link_bytes);
    kind.products['d'] = measure_products('d', of_kind[k], 8192);
    for (const char type : {'s', 'c', 'z'}) kind.products[type] = measure_products(type, of_kind[k], 4096);
    kind.columns = measure_columns(of_kind[k].front());
  }
  machine.core_rate = measure_core();
  return machine;
}

}  // namespace tessera::info
