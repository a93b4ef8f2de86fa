// SPDX-License-Identifier: BSD-3-Clause
#include "plans.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "choose.hpp"

namespace tessera::plan {

namespace {

using algorithms::Plan;

/// What determines the plan of a call, besides the call.
using Conditions = std::tuple<Index, std::optional<bool>, std::vector<int>, double, int, bool, int, std::size_t,
                              Placement, const plan::Machine*>;

/// Remembers the plans of one kind of call.
template <typename Call>
class Memory {
 public:
  using Key = std::pair<Call, Conditions>;

  std::optional<Plan> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(key);
    return found == plans_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const Key& key, const Plan& plan) {
    const std::lock_guard lock(mutex_);
    if (plans_.size() >= most) plans_.clear();
    plans_[key] = plan;
  }

 private:
  static constexpr std::size_t most = 1000;  ///< programs hardly use calls of more shapes
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
};

template <typename Call>
Memory<Call>& memory() {
  static auto& all = *new Memory<Call>;  // other threads may plan while the process exits
  return all;
}

/// Rehearses the candidates. Without owners, the policy decides where tasks run, on all GPUs; they are rehearsed as if
/// GPUs owned tiles, and panels, whose order of copies needs owners, are left out.
template <typename Call>
Plan rehearsed(const plan::Machine& model, machine::Machine machine, const Call& call) {
  const bool owned = machine.has_owners() || machine.gpu_count() == 0;
  if (machine.gpu_count() == 0) machine.placement = Placement::Scheduler;
  else if (!owned) machine.placement = Placement::Owner;
  auto plans = candidates(model, machine, call);
  const auto suits = [&](const Plan& plan) { return plan.gpus == machine.gpu_count() && !plan.panels.exist(); };
  if (!owned && std::ranges::any_of(plans, suits)) std::erase_if(plans, std::not_fn(suits));
  Search<Call> search(model, machine, call);
  for (auto& plan : plans) search.add(std::move(plan));
  auto plan = search.best();
  if (machine.considered != nullptr) search.explain(*machine.considered, plan);
  return plan;
}

/// The fastest plan of a call according to rehearsals, or the remembered one.
/// @param describe  (const Plan&): what the call is cut into
template <typename Call, typename Describe>
Plan planned(const machine::Machine& machine, const Call& call, Describe describe) {
  const auto& model = model_of(machine, call.type);
  const std::pair key{call, Conditions{machine.tile, machine.even_edges, machine.gpus, machine.gpu_memory,
                                       machine.operands, machine.posts_copies, machine.cpu_workers,
                                       machine.sharing_cores.size(), machine.placement, &model}};
  if (machine.considered == nullptr)
    if (auto known = memory<Call>().find(key)) return *std::move(known);
  auto plan = rehearsed(model, machine, call);
  const int gpus = plan.gpus, workers = gpus > 0 ? gpus : machine.cpu_workers;
  plan.reason = (machine.tile > 0 ? "asked for: " : "shortest predicted time: ") + describe(plan) + " for " +
                std::to_string(workers) + (gpus > 0 ? " GPU" : " worker") + (workers == 1 ? "" : "s");
  if (plan.has_cores()) plan.reason += " and " + std::to_string(machine.sharing_cores.size()) + " cores";
  if (!machine.has_owners()) plan.grid = {}, plan.load_first = false, plan.gpus = 0;
  memory<Call>().keep(key, plan);
  return plan;
}

std::string count_of(Index whole, Index part, const std::string& noun = "") {
  const Index count = tile::divide_up(std::max<Index>(whole, 1), part);
  return std::to_string(count) + noun + (noun.empty() || count == 1 ? "" : "s");
}

/// Refuses a requested tile size if the tiles of a product would not fit into the memory of a GPU, where a task would
/// wait forever. Tiles at the edges of small matrices are smaller. If the library chooses, the tiles fit.
void require_room_for_product(const machine::Machine& machine, char type, Index m, Index n, Index k) {
  const auto extent = [&](Index whole) { return static_cast<double>(std::min(machine.tile, whole)); };
  require_room(machine, static_cast<double>(common::size_of(type)) *
                            (extent(m) * extent(k) + extent(k) * extent(n) + extent(m) * extent(n)));
}

Plan plan_sum(const machine::Machine& machine, Sums call) {
  for (auto* const extent : {&call.m, &call.n, &call.k}) *extent = std::max<Index>(*extent, 1);
  require_room_for_product(machine, call.type, call.m, call.n, call.k);
  auto plan = planned(machine, call, [&](const Plan& chosen) {
    return std::to_string(chosen.rows(call.m).count()) + "x" + std::to_string(chosen.columns(call.n).count()) +
           (chosen.panels.exist() ? " panels" : " tiles") + " of C";
  });
  plan.load_first = call.loads_first(machine, plan);
  return plan;
}

Plan plan_triangular(const machine::Machine& machine, Triangular call) {
  call.of_triangle = std::max<Index>(call.of_triangle, 1), call.of_columns = std::max<Index>(call.of_columns, 1);
  require_room_for_product(machine, call.type, call.order(), call.columns(), call.order());
  auto plan = planned(machine, call, [&](const Plan& chosen) {
    const bool panels = chosen.panels.exist();
    return count_of(call.order(), chosen.tile.k, panels ? " panel" : " tile") +
           (panels ? " of the triangle, " : " on the diagonal, ") +
           count_of(call.columns() - chosen.rows_for_cores.whole() - chosen.columns_for_cores.whole(),
                    call.width(chosen), " independent column");
  });
  plan.load_first = call.loads_first(machine, plan);
  return plan;
}

template <typename Call>
Plan plan_factorization(const machine::Machine& machine, Call call) {
  call.m = std::max<Index>(call.m, 1), call.n = std::max<Index>(call.n, 1);
  return planned(machine, call, [&](const Plan& plan) { return count_of(call.order(), plan.tile.n, " panel"); });
}

/// The same in panels with pivots or reflectors. Beside CUDA GPUs, OpenCL devices take no panels.
template <typename Call>
Plan plan_factorization_in_panels(const machine::Machine& machine, const Call& call) {
  const auto require_room_for = [&](Index width) {  // one panel updates another
    require_room(machine, 2 * static_cast<double>(common::size_of(call.type)) * static_cast<double>(call.m) *
                              static_cast<double>(std::min(width, call.n)));
  };
  require_room_for(machine.tile);
  if (!machine.has_cuda() || !machine.has_opencl()) {
    const auto plan = plan_factorization(machine, call);
    require_room_for(plan.tile.n);
    return plan;
  }
  auto others = machine;
  others.gpus.resize(static_cast<std::size_t>(machine.cuda_gpus));
  others.gpu_workers.resize(others.gpus.size());
  const auto plan = plan_factorization(others, call);
  require_room_for(plan.tile.n);
  auto for_all = plan_panels(machine, call.type, call.m, call.n, plan.tile, plan.gpus);
  for_all.seconds = plan.seconds, for_all.reason = plan.reason;
  return for_all;
}

}  // namespace

bool are_far_apart(char type, Index rows, Index ld) {
  const auto apart = [&](Index elements) {
    return static_cast<double>(common::size_of(type)) * static_cast<double>(elements);
  };
  return apart(rows) <= machine::MachineRates::close && apart(ld) > machine::MachineRates::close;
}

Plan plan_product(const machine::Machine& machine, char type, Op op_a, Op op_b, Index m, Index n, Index k,
                  bool reads_result, bool far) {
  return plan_sum(machine, {type, SumOf::Product, m, n, k, op_a, op_b, reads_result, far});
}

Plan plan_product(const machine::Machine& machine, char type, TileExtents tile, Index m, Index n, Index k) {
  auto plan = plan_sums(machine, type, tile, tile::divide_up(m, tile.m) * tile::divide_up(n, tile.n), k);
  plan.load_first = Sums{type, SumOf::Product, m, n, k}.loads_first(machine, plan);
  return plan;
}

Plan plan_triangle(const machine::Machine& machine, char type, SumOf what, Op op_a, Op op_b, Index n, Index k,
                   bool reads_result, bool far) {
  return plan_sum(machine, {type, what, n, n, k, op_a, op_b, reads_result, far});
}

Plan plan_symmetric(const machine::Machine& machine, char type, Side side, Index m, Index n, bool reads_result,
                    bool far) {
  const bool left = side == Side::Left;
  const auto what = left ? SumOf::SymmetricLeft : SumOf::SymmetricRight;
  return plan_sum(machine, {type, what, m, n, left ? m : n, Op::NoTrans, Op::NoTrans, reads_result, far});
}

Plan plan_triangular(const machine::Machine& machine, char type, Side side, Op op, bool inverse, Index m, Index n,
                     bool far) {
  const bool left = side == Side::Left;
  return plan_triangular(machine,
                         {type, side, inverse, !left || op != Op::NoTrans, false, left ? m : n, left ? n : m, far});
}

Plan plan_solves(const machine::Machine& machine, char type, Side side, Index m, Index n) {
  const bool left = side == Side::Left;
  return plan_triangular(machine, {type, side, true, true, true, left ? m : n, left ? n : m});
}

Plan plan_cholesky(const machine::Machine& machine, char type, Index n, bool alone, bool far) {
  require_room_for_product(machine, type, n, n, n);
  return plan_factorization(machine, Cholesky{{{type, n, n, far}, alone}});
}

Plan plan_lu_nopiv(const machine::Machine& machine, char type, Index m, Index n, bool alone, bool far) {
  require_room_for_product(machine, type, m, n, std::min(m, n));
  return plan_factorization(machine, LuNoPiv{{{type, m, n, far}, alone}});
}

Plan plan_getrf(const machine::Machine& machine, char type, Index m, Index n) {
  return plan_factorization_in_panels(machine, Lu{{{type, m, n}}});
}

Plan plan_geqrf(const machine::Machine& machine, char type, Index m, Index n) {
  return plan_factorization_in_panels(machine, Qr{{{type, m, n}}});
}

}  // namespace tessera::plan
