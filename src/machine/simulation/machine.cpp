// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <algorithm>

#include <tessera/types.hpp>

namespace tessera::simulation {

namespace {

double element_size(char type) { return type == 's' ? 4 : type == 'z' ? 16 : 8; }

/// How often an operation that is bound by memory bandwidth reads or writes the tile; 0 for all others.
int passes(const std::string& operation) {
  return operation == "add" ? 3 : operation == "scale" ? 2 : operation == "inspect" || operation == "growth" ? 1 : 0;
}

}  // namespace

double GpuKind::task_seconds(const std::string& operation, char type, double flops) const {
  if (const int count = passes(operation); count > 0)
    return task_overhead + count * element_size(type) * flops / memory_rate;
  const auto own = kernels.find(operation);
  const auto& curve = own != kernels.end() ? own->second : kernels.at("gemm");
  return task_overhead + types.at(type) * curve.seconds(flops);
}

double GpuKind::best_rate(char type) const { return kernels.at("gemm").best_rate() / types.at(type); }

bool SharedLink::contains(int gpu) const { return std::ranges::find(gpus, gpu) != gpus.end(); }

double Machine::total_both(int count) const {
  const bool half_duplex = std::all_of(gpus.begin(), gpus.begin() + count, [](const Gpu& g) { return g.half_duplex; });
  const double in = total_in(count), out = total_out(count);
  return half_duplex ? std::max(in, out) : in + out;
}

double Machine::total(int count, double Gpu::*own, double SharedLink::*limit) const {
  std::vector<double> rates(static_cast<std::size_t>(count));
  std::ranges::transform(gpus.begin(), gpus.begin() + count, rates.begin(), [=](const Gpu& gpu) { return gpu.*own; });
  for (const auto& link : shared) {  // the rates of a group are reduced in proportion if they exceed the shared link
    double wanted = 0;
    for (int g = 0; g < count; g++)
      if (link.contains(g)) wanted += rates[static_cast<std::size_t>(g)];
    for (int g = 0; g < count; g++)
      if (link.contains(g)) rates[static_cast<std::size_t>(g)] *= std::min(1.0, link.*limit / wanted);
  }
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace tessera::simulation
