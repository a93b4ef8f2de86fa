// SPDX-License-Identifier: BSD-3-Clause
#include "machine_model.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "machine/machine.hpp"
#include "machine/machine_rates.hpp"

namespace tessera::plan {

using namespace std::string_view_literals;

double PanelTimes::seconds(double rows, double columns) const {
  const auto of_column = [rows](const device::CostCurve& curve) {
    const auto& points = curve.points();
    if (rows <= points.front().amount) return points.front().seconds;
    if (rows <= points.back().amount || points.size() < 2) return curve.seconds(std::min(rows, points.back().amount));
    const auto &before = points[points.size() - 2], &last = points.back();
    const double slope = std::max(0.0, last.seconds - before.seconds) / (last.amount - before.amount);
    return last.seconds + slope * (rows - last.amount);
  };
  const auto wider = curves_.lower_bound(columns);
  if (wider == curves_.begin()) return columns * of_column(wider->second);
  const auto& narrower = *std::prev(wider);
  const double seconds = of_column(narrower.second);
  if (wider == curves_.end()) return columns * seconds;
  const double part = (columns - narrower.first) / (wider->first - narrower.first);
  return columns * (seconds + part * (of_column(wider->second) - seconds));
}

/// The time to factorize a panel while updates run at the same time [s].
/// @param exchanges  seconds in which the updates move rows
double Gpu::factorization_seconds(std::string_view operation, const TaskWork& work, double exchanges) const {
  const auto& product = kernels.find("gemm"sv)->second;
  const auto of = [&](std::string_view name) {
    const auto& times = panels.find(name)->second;
    const auto [rows, columns, moved] = work.panel;
    const double wider = columns - times.widest();
    if (wider <= 0) return times.seconds(rows, columns);
    // It is factorized in panels of the widest that was measured, which become shorter, and update the rest by
    // products.
    return times.seconds(rows - wider / 2, columns) + product.seconds((work.flops - work.products) * wider / columns);
  };
  const double alone = of(operation.substr(0, operation.find("_beside")));
  if (work.products == 0) return alone;
  const double products = (product.seconds(work.products) + exchanges) / products_beside,
               beside = alone * of("getrf_beside_updates") / of("getrf");
  return products >= beside ? products : products + (1 - products / beside) * alone;  // the rest runs alone
}

double Gpu::copy_seconds(double elements, double height, double rows, double element_size, double busy) const {
  const auto& times = column_times(true, element_size * rows);
  const double column = element_size * height, at_best = column / in_rate,
               idle = std::max(at_best, times.idle.empty() ? 0 : times.idle.seconds(column)),
               computing = std::max(idle, times.computing.empty() ? 0 : times.computing.seconds(column));
  return elements / height * (idle + busy * (computing - idle));
}

double Gpu::task_seconds(std::string_view operation, const TaskWork& work, double element_size) const {
  const bool knows_memory = memory_rate > 0;
  if (const int count = device::passes(operation); count > 0 && knows_memory)
    return overhead + count * element_size * work.flops / memory_rate;
  constexpr double sector = 32;  // bytes that a GPU reads and writes for a single element of a row
  const double exchanges = knows_memory ? 2 * std::max(sector, element_size) * work.panel.moved / memory_rate : 0;
  if (operation == "laswp" && knows_memory) return overhead + exchanges;
  if (work.panel.columns > 0 && panels.contains(operation.substr(0, operation.find("_beside"))))
    return overhead + factorization_seconds(operation, work, exchanges);
  const auto& product = kernels.find("gemm"sv)->second;
  const auto own = kernels.find(operation);
  if (own == kernels.end() || (work.products > 0 && !steps_have_parts))
    return overhead + exchanges + product.seconds(work.flops);
  const auto steps = work.order > 0 ? kernels.find(std::string(operation) + "_steps") : kernels.end();
  const double at_least = steps != kernels.end() ? steps->second.seconds(work.order) : 0;
  return overhead + exchanges + std::max(own->second.seconds(work.flops - work.products), at_least) +
         product.seconds(work.products);
}

void set_cores(Machine& model, const machine::Machine& machine, char type) {
  model.cpu_workers = machine.cpu_workers;
  const int cores = static_cast<int>(machine.sharing_cores.size());
  const auto& rates = machine::machine_rates(machine, type);
  const bool share = machine.has_owners() && cores > 0 &&
                     machine::relative_rate_of_cores(rates, cores, machine.gpu_count()) >= machine::least_rate_of_cores;
  model.sharing_cores = share ? cores : 0;
}

}  // namespace tessera::plan
