// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/plan.hpp"
#include "considered.hpp"
#include "graph.hpp"
#include "machine/machine.hpp"
#include "rehearsal.hpp"

namespace tessera::plan {

/// Finds the fastest candidate while rehearsing only a few. The most promising are rehearsed first, and a lower bound
/// rules out others. A rehearsal stops once it is slower than the best so far.
///
/// The search budget counts operations instead of elapsed time, so the choice is reproducible.
/// @tparam Call  a call of calls.hpp or sums.hpp
template <typename Call>
class Search {
 public:
  using Plan = algorithms::Plan;

  Search(const Machine& model, const detail::Machine& machine, const Call& call)
      : model_(model), machine_(machine), call_(call) {}

  /// The candidate counts as slower the more GPUs and tasks it has.
  /// @param plan  `gpus` is the number of GPUs; 0: only CPU workers compute
  void add(Plan plan) {
    const double flops = model_.flops(call_.task(plan)), tasks = call_.flops() / flops;
    const int cores = cores_of(plan);
    const double rate = model_.products_per_second(plan.gpus, flops) +
                        (cores > 0 ? cores / model_.core.task_seconds("gemm", {flops}, 0) : 0);
    const double worse = std::pow(clear_gain, std::log2(std::max(plan.gpus, 1))) *
                         std::pow(clear_gain_of_tasks, std::log2(std::max(tasks, 1.0))),
                 estimate = call_.estimate(model_, plan, machine_.has_copies());
    candidates_.push_back({std::move(plan), tasks / rate * worse, tasks, estimate * worse, worse});
  }

  /// The fastest candidate with its predicted time. If all are too large to rehearse, the one that seems fastest.
  Plan best() {
    sort();
    const Candidate first = candidates_.front();
    while (auto* const next = most_promising()) rehearse(*next);
    if (limit_ < never) return std::move(best_);
    auto plan = first.plan;
    plan.seconds = std::max(first.estimate, first.bound);
    return plan;
  }

  /// Explains the choice: rehearses more candidates than a call has time for.
  void explain(std::vector<Considered>& all) {
    sort();
    double left = operations_to_explain;
    for (const auto& considered : candidates_) {
      if (considered.operations > left) continue;
      left -= considered.operations;
      const auto& plan = considered.plan;
      write(plan);
      Rehearsal rehearsal(model_, graph_, plan.gpus);
      auto forecast = rehearsal.run();
      if (forecast.seconds == never) continue;
      rehearsal.explain(forecast);
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
    double worse;  ///< the factor by which the predicted time counts as longer
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
    for (auto& candidate : candidates_) {
      if (candidate.is_done || candidate.bound >= limit_ || !has_time(candidate)) continue;
      const double known = errors_[candidate.group()], error = known > 0 ? known : untried * last_error_,
                   expected = candidate.estimate * error * (1 + candidate.operations / allowed());
      if (best == nullptr || expected < least) best = &candidate, least = expected;
    }
    return best;
  }

  /// The number of operations that may be rehearsed in all.
  double allowed() const {
    const double seconds = limit_ == never ? candidates_.front().bound : best_.seconds;
    return std::min(std::max(planning_least, planning_share * seconds) / rehearsal_of_operation, most_rehearsed);
  }
  bool has_time(const Candidate& candidate) const {
    const double most = limit_ == never ? std::max(allowed(), always_rehearsed) : allowed();
    return candidate.operations <= most - spent_;
  }

  void write(const Plan& plan) {
    graph_.clear();
    graph_.operands = machine_.operands, graph_.gpus = machine_.gpu_count();
    graph_.owners = tile::owner_grid(machine_.gpu_count());
    call_.write(machine_, plan, graph_);
  }

  void rehearse(Candidate& candidate) {
    write(candidate.plan);
    Rehearsal rehearsal(model_, graph_, candidate.plan.gpus);
    const auto forecast = rehearsal.run(limit_ / candidate.worse);
    spent_ += static_cast<double>(rehearsal.finished()) + rehearsal_itself;
    candidate.is_done = true;
    if (candidate.estimate > 0)
      last_error_ = errors_[candidate.group()] =
          std::min(forecast.seconds, limit_ / candidate.worse) * candidate.worse / candidate.estimate;
    if (forecast.seconds * candidate.worse >= limit_) return;
    limit_ = forecast.seconds * candidate.worse;
    best_ = candidate.plan;
    best_.seconds = forecast.seconds;
  }

  const Machine& model_;
  const detail::Machine& machine_;
  const Call& call_;
  std::vector<Candidate> candidates_;
  Graph graph_;
  Plan best_;
  double limit_ = never, spent_ = 0;
  static constexpr double untried = 0.8;  ///< so that each group is tried
  std::array<double, 66> errors_{};       ///< rehearsed times relative to estimates, by group; 0: not known
  double last_error_ = 1;
};

}  // namespace tessera::plan
