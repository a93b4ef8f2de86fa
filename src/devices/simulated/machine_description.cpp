// SPDX-License-Identifier: BSD-3-Clause
#include "machine_description.hpp"

#include <algorithm>

namespace tessera::device::simulated {

namespace {

double element_size(char type) { return type == 's' ? 4 : type == 'z' ? 16 : 8; }

}  // namespace

double GpuKind::product_seconds(const std::string& operation, char type, double flops) const {
  const auto own = kernels.find(operation);
  const auto& curve = own != kernels.end() ? own->second : kernels.at("gemm");
  return types.at(type) * curve.seconds(flops);
}

/// @param seconds_beside  the time of the concurrent products if they had the whole GPU
double GpuKind::factorization_seconds(const Work& work, double seconds_beside) const {
  const auto of_panel = [&](const CostCurve& column) {  // at least the time of the shortest measured panel
    return work.columns * column.seconds(std::max(work.rows, column.points().front().amount));
  };
  const double alone = of_panel(panels->alone);
  if (work.beside == 0) return alone;
  if (!panels->beside) return alone + seconds_beside;
  const double products = seconds_beside / panels->beside->products, beside = of_panel(panels->beside->columns);
  return products >= beside ? products
                            : products + (1 - products / beside) * alone;  // the rest of the panel runs alone
}

double GpuKind::task_seconds(const std::string& operation, const Work& work) const {
  if (const int count = passes(operation); count > 0)
    return task_overhead + count * element_size(work.type) * work.flops / memory_rate;
  constexpr double sector = 32;  // bytes that a GPU reads and writes for a single element of a row
  const double exchanges = 2 * std::max(sector, element_size(work.type)) * work.moved / memory_rate;
  if (operation == "laswp") return task_overhead + exchanges;
  if (work.columns > 0 && panels)
    return task_overhead +
           factorization_seconds(work,
                                 exchanges + (work.beside > 0 ? product_seconds("gemm", work.type, work.beside) : 0));
  return task_overhead + product_seconds(operation, work.type, work.flops) + exchanges;
}

double GpuKind::best_rate(char type) const { return kernels.at("gemm").best_rate() / types.at(type); }

bool SharedLink::contains(int gpu) const { return std::ranges::find(gpus, gpu) != gpus.end(); }

double Machine::total_both(int count) const {
  const bool half_duplex = std::all_of(gpus.begin(), gpus.begin() + count, [](const Gpu& g) { return g.half_duplex; });
  const double in = total_in(count), out = total_out(count);
  double sum = half_duplex ? std::max(in, out) : in + out;
  for (const auto& link : shared) {
    const auto is_inside = [&](int gpu) { return gpu < count; };
    if (link.both > 0 && std::ranges::count_if(link.gpus, is_inside) == count) sum = std::min(sum, link.both);
  }
  return sum;
}

double Machine::total(int count, double Gpu::*own, double SharedLink::*limit) const {
  std::vector<double> rates(static_cast<std::size_t>(count));
  std::ranges::transform(gpus.begin(), gpus.begin() + count, rates.begin(), [=](const Gpu& gpu) { return gpu.*own; });
  for (const auto& link : shared) {  // if a group exceeds a shared link, the rates of its GPUs are reduced in
                                     // proportion
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

}  // namespace tessera::device::simulated
