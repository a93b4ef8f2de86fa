// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "rehearsal.hpp"

namespace tessera::plan {

/// A candidate with its predicted time.
struct Choice {
  Candidate candidate;
  double seconds = never;
};

/// Finds the fastest candidate while rehearsing only a few. The most promising are rehearsed first, and a lower bound
/// rules out others. A rehearsal stops once it is slower than the best so far.
///
/// The search budget counts operations instead of elapsed time, so the choice is reproducible.
/// @tparam Call  a call of calls.hpp
template <typename Call>
class Search {
 public:
  Search(const Machine& model, const detail::Machine& machine, const Call& call)
      : model_(model), machine_(machine), call_(call) {}

  /// @param estimate  predicted seconds, the primary sort key; if 0 for all, the number of operations decides
  void add(const Candidate& candidate, double estimate = 0) {
    const double tile = static_cast<double>(std::min(candidate.tile, call_.order())),
                 width = static_cast<double>(std::min(candidate.width, call_.columns())),
                 depth = candidate.panels.exist() ? static_cast<double>(call_.order()) : tile,
                 flops = model_.flops_per_multiply_add * tile * width * depth, tasks = call_.flops() / flops;
    double rate = 0;
    for (int gpu = 0; gpu < candidate.gpus; gpu++)
      rate += 1 / model_.gpus[index(gpu)].task_seconds("gemm", flops, model_.element_size);
    const double worse = handicap(candidate.gpus);
    candidates_.push_back({candidate, tasks / rate * worse, tasks, estimate * worse});
  }

  Choice best() {
    std::ranges::stable_sort(candidates_, {}, [](const Considered& c) { return std::pair(c.estimate, c.operations); });
    for (const auto& considered : candidates_)
      if (considered.bound < limit_ && has_time(considered.operations)) rehearse(considered.candidate);
    return best_;
  }

 private:
  struct Considered {
    Candidate candidate;
    double bound;       ///< lower bound of the time: arithmetic alone, with the handicap
    double operations;  ///< approximate number
    double estimate;
  };

  /// The factor by which the time of a candidate counts as longer because it uses more GPUs.
  double handicap(int gpus) const {
    const auto first = model_.gpus.begin();
    const bool alike = std::all_of(first, first + gpus, [](const Gpu& gpu) { return gpu.alike_first; });
    return std::pow(clear_gain, std::log2(gpus)) * (alike ? 1 : clear_gain_of_unlike);
  }

  bool has_time(double operations) const {
    const double allowed = std::max(planning_least, planning_share * best_.seconds) / rehearsal_of_operation;
    return best_.seconds == never ? operations <= most_operations : spent_ + operations <= allowed;
  }

  void rehearse(const Candidate& candidate) {
    graph_.clear();
    call_.write(machine_, candidate, graph_);
    Rehearsal rehearsal(model_, graph_, candidate.gpus);
    const double worse = handicap(candidate.gpus);
    const auto forecast = rehearsal.run(limit_ / worse);
    spent_ += static_cast<double>(rehearsal.finished()) + rehearsal_itself;
    if (forecast.seconds * worse >= limit_) return;
    limit_ = forecast.seconds * worse;
    best_ = {candidate, forecast.seconds};
  }

  const Machine& model_;
  const detail::Machine& machine_;
  const Call& call_;
  std::vector<Considered> candidates_;
  Graph graph_;
  Choice best_;
  double limit_ = never, spent_ = 0;
};

}  // namespace tessera::plan
