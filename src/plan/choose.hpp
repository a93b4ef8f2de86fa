// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/plan.hpp"
#include "common/not_copyable.hpp"
#include "considered.hpp"
#include "graph.hpp"
#include "machine/machine.hpp"
#include "rehearsal.hpp"
#include "tile/edges.hpp"
#include "tile/extents.hpp"
#include "tile/split.hpp"
#include "tuning.hpp"

namespace tessera::plan {

/// The largest tiles, not above this size, of which each of several GPUs gets the same number.
inline Index even_extent(Index whole, Index tile, Index gpus) {
  constexpr Index grain = 64;
  const Index count = tile::divide_up(tile::divide_up(whole, tile), gpus) * gpus;
  return std::min(tile, tile::divide_up(tile::divide_up(whole, count), grain) * grain);
}

/// A result that GPUs and cores share.
struct SharedResult {
  tile::TileExtents task;
  double flops, seconds;  ///< in which the GPUs alone compute it
  Index whole, widest;    ///< its rows or columns, and the most of a tile
  double power;           ///< see ForCores
};

/// The last rows or columns, which cores compute in the time in which the GPUs compute the others.
inline tile::LastTiles last_for_cores(const Machine& model, const SharedResult& result) {
  constexpr Index step = 8;
  const double cores = model.sharing_cores, all = static_cast<double>(result.whole), of_gpus = result.seconds / all,
               task = model.flops(result.task), of_core = model.core.product_seconds(task) / task * result.flops / all,
               predicted = caution(model.error_of_cores, cores * of_gpus / of_core) * of_core;
  // The last lines are the most work: as much as `lines` of a result whose lines are all alike.
  const double lines = cores * (result.seconds - model.lost_on_cores * predicted) / (predicted + cores * of_gpus);
  if (lines <= 0) return {};
  const double wide = all * (1 - std::pow(1 - std::min(lines / all, 1.0), 1 / result.power));
  const auto steps = static_cast<Index>(wide / cores) / step;
  if (steps == 0) return {};
  const Index tiles = tile::divide_up(steps * step, result.widest), extent = steps / tiles * step;
  return {model.sharing_cores * tiles, extent};
}

/// Finds the fastest candidate while rehearsing only a few. The most promising are rehearsed first, and a lower bound
/// rules out others. A rehearsal stops once it is slower than the best so far.
///
/// Plans with a part for cores are compared in a second search of the same length. So cores never change the plan of
/// the GPUs unless a plan with a part for them is faster.
///
/// The search budget counts operations instead of elapsed time, so the choice is reproducible.
/// @tparam Call  a call of calls.hpp or sums.hpp
template <typename Call>
class Search : common::NotCopyable {
 public:
  using Plan = algorithms::Plan;

  Search(const Machine& model, const machine::Machine& machine, const Call& call)
      : model_(model), machine_(machine), call_(call) {}

  /// The candidate counts as slower the more GPUs and tasks it has, and as faster if cores may share it.
  /// @param plan  `gpus` is the number of GPUs; 0: only CPU workers compute. The cores may get the last rows or columns
  ///              of its result.
  void add(Plan plan) {
    const double flops = model_.flops(call_.task(plan)), tasks = call_.flops() / flops;
    const double rate = plan.gpus > 0 ? model_.products_per_second(plan.gpus, flops)
                                      : model_.cpu_workers / model_.core.product_seconds(flops),
                 estimate = call_.estimate(model_, plan, machine_.has_copies());
    const double alone = std::pow(clear_gain, std::log2(std::max(plan.gpus, 1))) *
                         std::pow(clear_gain_of_tasks, std::log2(std::max(tasks, 1.0))),
                 of_gpus = 1 - part_of_cores(plan, estimate > 0 ? estimate : tasks / rate);
    plan.for_cores = 0;  // instead, cores may get its last rows or columns
    candidates_.push_back({std::move(plan), tasks / rate * alone, tasks, estimate * alone, alone, of_gpus});
  }

  /// The fastest candidate with its predicted time. If all are too large to rehearse, the one that seems fastest.
  Plan best() {
    sort();
    const Candidate first = candidates_.front();
    while (auto* const next = most_promising()) rehearse(*next);
    if (limit_ < never && model_.sharing_cores > 0) share_with_cores();
    if (limit_ == never) best_ = first.plan, best_.seconds = std::max(first.estimate, first.bound);
    return std::move(best_);
  }

  /// Explains the choice: rehearses more candidates than a call has time for.
  void explain(std::vector<Considered>& all, const Plan& chosen) {
    if (chosen.has_cores()) candidates_.insert(candidates_.begin(), {chosen, 0, 0, 0, 1, 1});
    double left = operations_to_explain;
    for (const auto& considered : candidates_) {
      if (considered.operations > left) continue;
      left -= considered.operations;
      const auto& plan = considered.plan;
      write(plan);
      rehearsal_.prepare(plan.gpus);
      auto forecast = rehearsal_.run();
      if (forecast.seconds == never) continue;
      rehearsal_.explain(forecast);
      all.push_back({call_.task(plan), plan.panels.exist(), plan.gpus, cores_of(plan), forecast.seconds, forecast.bound,
                     forecast.longest / forecast.seconds});
    }
  }

 private:
  struct Candidate {
    Plan plan;
    double bound;       ///< lower bound of the time: arithmetic alone, with the handicap
    double operations;  ///< approximate number
    double estimate;
    double worse;            ///< the factor by which the predicted time counts as longer
    double of_gpus;          ///< the fraction of the work that GPUs do if cores get as much as they can
    double seconds = never;  ///< rehearsed; never: not, or not to its end
    bool is_done = false;
    std::size_t group() const { return 2 * index(plan.gpus) + (plan.panels.exist() ? 1 : 0); }
  };

  int cores_of(const Plan& plan) const {
    return plan.gpus == 0 ? model_.cpu_workers : plan.has_cores() ? model_.sharing_cores : 0;
  }

  void sort() {
    std::ranges::stable_sort(candidates_, {}, [](const Candidate& c) { return std::pair(c.estimate, c.operations); });
  }

  /// The candidate to rehearse next: one that may be fast and has few operations. Estimates of candidates in panels, or
  /// of those with some number of GPUs, are wrong by similar factors.
  Candidate* most_promising() {
    Candidate* best = nullptr;
    double least = never;
    const double all = allowed(), left = operations_left();
    for (auto& candidate : candidates_) {
      const double part = beside_cores_ ? candidate.of_gpus : 1;
      if (candidate.is_done || candidate.operations > left || candidate.bound * part >= limit_) continue;
      const double known = errors_[candidate.group()], error = known > 0 ? known : untried * last_error_,
                   seconds =
                       candidate.seconds < never ? candidate.seconds * candidate.worse : candidate.estimate * error,
                   expected = seconds * part * (1 + candidate.operations / all);
      if (best == nullptr || expected < least) best = &candidate, least = expected;
    }
    return best;
  }

  /// The number of operations that may be rehearsed in all.
  double allowed() const {
    const double seconds = limit_ == never ? candidates_.front().bound : best_.seconds;
    return std::min(std::max(planning_least, planning_share * seconds) / rehearsal_of_operation, most_rehearsed);
  }
  double operations_left() const {
    return (limit_ == never ? std::max(allowed(), always_rehearsed) : allowed()) - spent_;
  }

  void write(const Plan& plan) {
    graph_.clear();
    graph_.far = call_.far, graph_.operands = machine_.operands, graph_.gpus = machine_.gpu_count();
    graph_.owners = tile::owner_grid(machine_.gpu_count());
    call_.write(machine_, plan, graph_);
  }

  /// @param limit  the rehearsal stops once it is slower
  Forecast forecast_of(const Plan& plan, double limit) {
    write(plan);
    rehearsal_.prepare(plan.gpus);
    const auto forecast = rehearsal_.run(limit);
    const auto on_cores =
        std::ranges::count_if(graph_.operations, [&](const Operation& each) { return graph_.core_of(each) >= 0; });
    spent_ += static_cast<double>(rehearsal_.finished()) +
              writing_of_operation * static_cast<double>(std::ssize(graph_.operations) - on_cores) + rehearsal_itself;
    return forecast;
  }

  void rehearse(Candidate& candidate) {
    const double longest = limit_ / candidate.worse / (beside_cores_ ? candidate.of_gpus : 1);
    candidate.is_done = true;
    candidate.seconds = forecast_of(candidate.plan, longest).seconds;
    const bool ended = candidate.seconds < never;
    if (candidate.estimate > 0) {  // a rehearsal that stopped only shows that the estimate was too low
      auto &error = errors_[candidate.group()], &finished = finished_[candidate.plan.panels.exist() ? 1 : 0];
      const double least = std::min(candidate.seconds, longest) * candidate.worse / candidate.estimate;
      if (ended) last_error_ = finished = error = least;
      else last_error_ = error = std::max({least, error, finished});
    }
    if (ended && !beside_cores_) keep(candidate.plan, candidate.seconds, candidate.worse);
  }
  /// The second search. Plans must now also be faster than the first search's without their handicaps, since cores are
  /// not meant to save GPUs.
  void share_with_cores() {
    const double limit = limit_, longest = best_.seconds / (call_.for_cores(best_).depends ? clear_gain_of_cores : 1);
    for (auto& candidate : candidates_) candidate.is_done = candidate.of_gpus == 1;
    beside_cores_ = true, spent_ = 0;
    while (auto* const next = most_promising()) {
      if (next->seconds == never) rehearse(*next);
      next->is_done = true;
      if (next->seconds == never) continue;
      const double error = next->seconds * next->worse == limit ? 0 : error_of_end(next->plan);
      for (auto& plan : shared(next->plan, next->seconds)) {
        if (next->operations > operations_left()) break;
        const double seconds = forecast_of(plan, std::min(limit_ / next->worse, longest - error)).seconds;
        if (seconds < longest - error) keep(plan, seconds, next->worse);
      }
    }
  }
  /// The error of comparisons between plans. GPUs of unlike speed share the last tasks as they become free, so the
  /// slowest may run one more task than predicted.
  double error_of_end(const Plan& plan) const {
    double longest = 0;
    const auto gpus = std::span(model_.gpus).first(index(plan.gpus));
    if (std::ranges::all_of(gpus, &Gpu::alike_first)) return longest;
    for (const auto& gpu : gpus) longest = std::max(longest, gpu.product_seconds(model_.flops(call_.task(plan))));
    return longest;
  }
  /// @param worse  the factor by which the predicted time counts as longer
  void keep(const Plan& plan, double seconds, double worse) {
    if (seconds * worse >= limit_) return;
    limit_ = seconds * worse;
    best_ = plan, best_.seconds = seconds;
  }

  /// The last rows or columns of a plan that cores could compute.
  /// @param seconds  in which the GPUs alone compute everything
  tile::LastTiles for_cores(const Plan& plan, double seconds) const {
    const auto share = call_.for_cores(plan);
    if (model_.sharing_cores == 0 || plan.gpus == 0 || plan.panels.exist() || !share.any) return {};
    const auto last =
        last_for_cores(model_, {call_.task(plan), call_.flops(), seconds, share.whole, share.widest, share.power});
    return last.whole() < share.whole ? last : tile::LastTiles{};
  }
  /// The fraction of the work that cores could do.
  double part_of_cores(const Plan& plan, double seconds) const {
    const auto last = for_cores(plan, seconds);
    if (last.count == 0) return 0;
    const auto share = call_.for_cores(plan);
    const double part = static_cast<double>(last.whole()) / static_cast<double>(share.whole);
    return 1 - std::pow(1 - part, share.power);
  }
  /// The ways to share a plan with cores.
  /// @param seconds  in which the GPUs alone compute everything
  std::vector<Plan> shared(const Plan& alone, double seconds) const {
    const auto last = for_cores(alone, seconds);
    if (last.count == 0) return {};
    const auto share = call_.for_cores(alone);
    std::vector<Plan> all;
    const auto add = [&](Index extent) {
      auto& plan = all.emplace_back(alone);
      if (share.rows) plan.rows_for_cores = last, plan.tile.m = extent;
      if (share.columns) plan.columns_for_cores = last, plan.tile.n = extent;
    };
    const Index even = std::max(even_extent(share.whole - last.whole(), share.widest, share.gpus), last.extent);
    if (machine_.tile == 0 && even < share.widest) add(even);
    add(share.widest);
    return all;
  }

  const Machine& model_;
  const machine::Machine& machine_;
  const Call& call_;
  std::vector<Candidate> candidates_;
  Graph graph_;
  Rehearsal rehearsal_{model_, graph_};
  Plan best_;
  double limit_ = never;                  ///< the least time so far, with the handicaps
  double spent_ = 0;                      ///< operations on GPUs or by cores alone, rehearsed in this search
  bool beside_cores_ = false;             ///< in the second search
  static constexpr double untried = 0.8;  ///< so that each group is tried
  std::array<double, 66> errors_{};       ///< rehearsed times relative to estimates, by group; 0: not known
  std::array<double, 2> finished_{};      ///< the same of the last rehearsal that ended, in tiles and in panels
  double last_error_ = 1;
};

}  // namespace tessera::plan
