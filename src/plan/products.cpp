// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "chosen.hpp"
#include "plans.hpp"
#include "tiling/planning.hpp"
#include "tiling/region.hpp"
#include "tiling/tile_size.hpp"

namespace tessera::detail {

namespace {

using plan::Sums;

Plan planned(const Machine& machine, const Sums& call, const MachineModel& model, const ChosenTiles& chosen) {
  const Index m = std::max<Index>(call.m, 1), n = std::max<Index>(call.n, 1), k = std::max<Index>(call.k, 1);
  require_room(machine, model, {chosen.m, chosen.n, chosen.k}, m, n, k);
  const Index mt = divide_up(m, chosen.m), nt = divide_up(n, chosen.n);
  const auto region =
      call.is_triangle() ? Region::triangle(Uplo::Lower, mt, nt, chosen.m, chosen.n) : Region(Part::All);
  return plan_chosen(model, chosen, region.tiles(mt, nt), k);
}

/// The candidates that the formulas compare for a number of GPUs, and their choice, which comes first.
template <typename Choose>
std::vector<std::pair<Plan, double>> compared(const Machine& machine, const Sums& call, int gpus, Choose choose) {
  auto model = machine_model(machine, call.type);
  std::vector<ChosenTiles> all;
  model.gpus = gpus, model.sharing_cores = 0, model.compared = &all;
  const auto chosen = choose(model);
  std::erase_if(all, [&](const ChosenTiles& tiles) {
    return tiles.m == chosen.m && tiles.n == chosen.n && tiles.k == chosen.k &&
           tiles.panels.exist() == chosen.panels.exist();
  });
  constexpr std::size_t most = 12;  // there is hardly ever time to rehearse more
  std::ranges::stable_sort(all, {}, &ChosenTiles::seconds);
  if (machine.considered == nullptr) all.resize(std::min(all.size(), most));
  all.insert(all.begin(), chosen);
  std::vector<std::pair<Plan, double>> plans;
  for (const auto& tiles : all) {
    plans.emplace_back(planned(machine, call, model, tiles), tiles.seconds);
    plans.back().first.gpus = gpus;
  }
  return plans;
}

/// The plan that rehearsals choose. If they do not cover the call, or if cores take part, the formulas choose.
template <typename Choose>
Plan best(const Machine& machine, const Sums& call, Choose choose) {
  const auto by_formula = [&](const MachineModel& model) { return planned(machine, call, model, choose(model)); };
  const auto model = machine_model(machine, call.type);
  if (model.sharing_cores > 0)
    if (auto plan = with_or_without_cores(model, by_formula); plan.has_cores()) return plan;
  if (auto choice = plan::choose_sums(machine, call, [&](int gpus) { return compared(machine, call, gpus, choose); })) {
    auto plan = choice->candidate;
    plan.seconds = choice->seconds;
    plan.reason = "shortest predicted time: " + std::to_string(divide_up(call.m, plan.tile.m)) + "x" +
                  std::to_string(divide_up(call.n, plan.tile.n)) + (plan.panels.exist() ? " panels" : " tiles") +
                  " of C for " + std::to_string(plan.gpus) + (plan.gpus > 1 ? " GPUs" : " GPU");
    return plan;
  }
  return with_or_without_cores(model, by_formula);
}

Transposed stored(Op op_a, Op op_b) { return {op_a != Op::NoTrans, op_b != Op::NoTrans}; }

}  // namespace

Plan plan_product(const Machine& machine, char type, Op op_a, Op op_b, Index m, Index n, Index k) {
  auto plan = best(machine, {type, plan::SumOf::Product, m, n, k, op_a, op_b}, [&](const MachineModel& model) {
    return choose_product_tiles(model, stored(op_a, op_b), m, n, k, machine.tile);
  });
  if (!plan.panels.exist() && plan.for_cores == 0) plan.at_the_edges = edges_of_products(machine);
  return plan;
}

Plan plan_triangle(const Machine& machine, char type, Uplo /*uplo*/, Op op_a, Op op_b, Index n, Index k,
                   TriangleOf what) {
  using enum plan::SumOf;
  const auto kind = what == TriangleOf::Product ? Triangle : what == TriangleOf::RankK ? RankK : Rank2k;
  return best(machine, {type, kind, n, n, k, op_a, op_b}, [&](const MachineModel& model) {
    return choose_triangle_tiles(model, stored(op_a, op_b), n, k, what, machine.tile);
  });
}

Plan plan_symmetric(const Machine& machine, char type, Side side, Index m, Index n) {
  using enum plan::SumOf;
  const bool left = side == Side::Left;
  return best(machine, {type, left ? SymmetricLeft : SymmetricRight, m, n, left ? m : n},
              [&](const MachineModel& model) { return choose_symmetric_tiles(model, side, m, n, machine.tile); });
}

}  // namespace tessera::detail
