// SPDX-License-Identifier: BSD-3-Clause
// Builds the model of a machine from what was measured when the session began.
#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/of_type.hpp"
#include "devices/cpu/copying_threads.hpp"
#include "devices/link_rates.hpp"
#include "machine/machine.hpp"
#include "machine/machine_rates.hpp"
#include "machine_model.hpp"

namespace tessera::plan {

namespace {

using device::CostCurve;

/// Times of an operation on diagonal tiles that was not measured: a product, plus a delay for each row, since the rows
/// depend on each other.
/// @param flops  (order)
template <typename Flops>
CostCurve by_rows(const CostCurve& gemm, Flops flops) {
  std::vector<CostCurve::Point> points;
  for (const double order : {256, 1024, 4096})
    points.push_back({flops(order), gemm.seconds(flops(order)) + unmeasured.diagonal_row * order});
  return CostCurve(std::move(points));
}

/// Times of products and of all measured operations. If trsm and trmm were not measured, they are as fast as products.
std::map<std::string, CostCurve, std::less<>> kernels_of(const machine::MachineRates& rates, double multiply_add) {
  const auto cube = [&](double part) {
    return [=](double order) { return part * multiply_add * order * order * order; };
  };
  constexpr double block = device::diagonal_block;
  std::map<std::string, CostCurve, std::less<>> kernels{
      {"gemm", rates.gpu},
      {"potrf", by_rows(rates.gpu, cube(1.0 / 6))},
      {"getrf_nopiv", by_rows(rates.gpu, cube(1.0 / 3))},
      {"diagonal_blocks", by_rows(rates.gpu, [=](double order) { return multiply_add * order * block * block; })}};
  for (const auto& [operation, tasks] : rates.operations) {
    if (operation.find(' ') != std::string::npos) continue;  // see panels_of
    auto points = tasks.points();
    for (auto& point : points) point.seconds -= std::min(unmeasured.task_overhead, point.seconds / 2);
    // A smaller task takes no longer than a larger one, except when its measurement was disturbed.
    for (std::size_t i = points.size(); i-- > 1;)
      points[i - 1].seconds = std::min(points[i - 1].seconds, points[i].seconds);
    if (!points.empty()) kernels[operation] = CostCurve(std::move(points));
  }
  return kernels;
}

/// Times of factorizations of panels.
std::map<std::string, PanelTimes, std::less<>> panels_of(const machine::MachineRates& rates) {
  std::map<std::string, PanelTimes, std::less<>> panels;
  for (const auto& [name, tasks] : rates.operations) {
    const auto space = name.find(' ');
    if (space == std::string::npos) continue;
    const double columns = std::stod(name.substr(space));
    auto points = tasks.points();
    for (auto& point : points)
      point.seconds = std::max(point.seconds - unmeasured.task_overhead, point.seconds / 2) / columns;
    // A short panel takes no longer than a tall one, except when its measurement was disturbed.
    for (std::size_t i = points.size(); i-- > 1;)
      points[i - 1].seconds = std::min(points[i - 1].seconds, points[i].seconds);
    panels[name.substr(0, space)].add(columns, CostCurve(std::move(points)));
  }
  return panels;
}

/// Bandwidth between two memory nodes according to StarPU [bytes/s].
double rate(unsigned from, unsigned to) { return 1e6 * starpu_transfer_bandwidth(from, to); }
double latency(unsigned from, unsigned to) { return 1e-6 * starpu_transfer_latency(from, to); }

/// The first GPU of each kind is measured, and stands for all of them.
Gpu measured_gpu(const machine::Machine& machine, const machine::MachineRates& rates, bool opencl,
                 double multiply_add) {
  Gpu gpu;
  gpu.overhead = unmeasured.task_overhead;
  gpu.alike_first = opencl == machine.is_opencl(0);
  if (opencl) {
    gpu.kernels["gemm"] = rates.opencl;
    return gpu;
  }
  gpu.kernels = kernels_of(rates, multiply_add);
  gpu.panels = panels_of(rates), gpu.products_beside = unmeasured.products_beside;
  gpu.steps_have_parts = true;
  gpu.memory_rate = rates.memory;
  gpu.in = gpu.out = {rates.columns.idle, rates.columns.computing};
  gpu.close = {rates.close_columns.idle, rates.close_columns.computing};
  return gpu;
}

Machine measured(const machine::Machine& machine, const machine::MachineRates& rates, char type) {
  Machine model;
  model.memory = machine.gpu_memory;
  model.element_size = static_cast<double>(common::size_of(type));
  model.flops_per_multiply_add = common::flops_of_multiply_add(type);
  model.runtime = unmeasured.runtime;
  model.core.kernels["gemm"] = rates.cpu, model.core.memory_rate = unmeasured.core_memory;
  model.lost_on_cores = unmeasured.lost_on_cores, model.error_of_cores = unmeasured.error_of_cores;
  set_cores(model, machine, type);
  std::vector<unsigned> nodes(machine.gpus.size());
  const bool runs = !machine.gpu_workers.empty();
  for (std::size_t i = 0; runs && i < nodes.size(); i++)
    nodes[i] = starpu_worker_get_memory_node(static_cast<unsigned>(machine.gpu_workers[i].front()));
  // The program may have bus files without a link.
  const auto rate_or = [&](double otherwise, unsigned from, unsigned to) {
    const double known = runs ? rate(from, to) : 0;
    return known > 0 ? known : otherwise;
  };
  const auto latency_or_0 = [](unsigned from, unsigned to) {
    const double known = latency(from, to);
    return known > 0 ? known : 0;
  };
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const unsigned node = nodes[i];
    auto gpu = measured_gpu(machine, rates, machine.is_opencl(static_cast<int>(i)), model.flops_per_multiply_add);
    gpu.in_rate = rate_or(rates.link, STARPU_MAIN_RAM, node), gpu.out_rate = rate_or(rates.link, node, STARPU_MAIN_RAM);
    if (runs) gpu.latency = latency_or_0(STARPU_MAIN_RAM, node);
    model.gpus.push_back(gpu);
    auto& row = model.peers.emplace_back();
    for (const unsigned other : nodes) {
      const double to_peer = node == other ? 0 : rate_or(0, node, other);
      row.push_back(
          {to_peer, to_peer > 0 ? latency_or_0(node, other) : 0, to_peer < unmeasured.own_link * gpu.in_rate});
    }
  }
  const double links = std::accumulate(model.gpus.begin(), model.gpus.end(), 0.0,
                                       [](double sum, const Gpu& each) { return sum + each.in_rate; });
  const auto copying = device::copying_threads(model.gpus.size(), 1e-9 * links);
  model.staging = {1e9 * copying.rate, 1e9 * copying.rate_of_one, true, !machine.posts_copies, copying.count};
  if (machine.posts_copies)
    model.staging.largest_streamed =
        static_cast<double>(copying.streamed) / 2,  // StarPU copies so many tiles at a time
        model.staging.rate_streamed = 1e9 * copying.rate_streamed;
  if (const auto together = device::rates_together(); machine.has_cuda() && together.in > 0) {
    model.shared.push_back({~0U, together.in, together.out, together.both});
    // If only some pairs have a direct link, the copies to the others took the time of the measurement.
    double direct = 0;
    for (const auto& from : model.peers)
      for (const auto& link : from)
        if (!link.bus) direct = std::max(direct, link.rate);
    if (together.peers > 0) model.peers_together = std::max(together.peers, direct);
  }
  return model;
}

constexpr std::string_view types = "sdcz";

/// The model that was last asked for, by type. Tasks may look at them while a session ends.
std::atomic<const Machine*>& last_model(char type) {
  static std::array<std::atomic<const Machine*>, types.size()> all{};
  return all[types.find(type)];
}

}  // namespace

const Machine& model_of(const machine::Machine& machine, char type) {
  static std::mutex mutex;
  using Key = std::tuple<char, std::vector<int>, int, double, bool, int, std::size_t, bool>;
  static auto& models = *new std::map<Key, Machine>;  // keeps the models of earlier sessions, too
  const auto& rates = machine::machine_rates(machine, type);
  const std::lock_guard lock(mutex);
  const auto [found, is_new] =
      models.try_emplace({type, machine.gpus, machine.cuda_gpus, machine.gpu_memory, machine.posts_copies,
                          machine.cpu_workers, machine.sharing_cores.size(), rates.operations.empty()});
  if (is_new) found->second = measured(machine, rates, type);
  last_model(type) = &found->second;
  return found->second;
}

double expected_seconds(const char* operation, const device::Work& work, int worker) {
  const Machine* const model = last_model(work.type);
  if (model == nullptr) return 0;
  const auto worker_type = starpu_worker_get_type(worker);
  // GPUs of a kind are alike. CUDA GPUs come first.
  const bool on_core = worker_type == STARPU_CPU_WORKER || model->gpus.empty();
  const auto& device = on_core                             ? model->core
                       : worker_type == STARPU_CUDA_WORKER ? model->gpus.front()
                                                           : model->gpus.back();
  const TaskWork task{work.flops, work.beside, work.order, {work.rows, work.columns, work.moved}};
  return device.task_seconds(operation, task, model->element_size);
}

namespace {

void set_costs(const machine::Machine& machine) {
  if (machine.gpu_count() > 0)
    for (const char type : types) model_of(machine, type);
  codelets::set_cost_function(expected_seconds);
}

[[maybe_unused]] const bool is_set = (machine::planning().set_costs = set_costs, true);

}  // namespace

}  // namespace tessera::plan
