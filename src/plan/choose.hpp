// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "rehearsal.hpp"
#include "tiling/considered.hpp"

namespace tessera::plan {

/// A candidate with its predicted time.
template <typename Candidate>
struct ChoiceOf {
  Candidate candidate;
  double seconds = never;
};
using Choice = ChoiceOf<Candidate>;

/// Finds the fastest candidate while rehearsing only a few. The most promising are rehearsed first, and a lower bound
/// rules out others. A rehearsal stops once it is slower than the best so far.
///
/// The search budget counts operations instead of elapsed time, so the choice is reproducible.
/// @tparam Call  a call of calls.hpp or sums.hpp
template <typename Call>
class Search {
 public:
  using Candidate = typename Call::Candidate;

  Search(const Machine& model, const detail::Machine& machine, const Call& call)
      : model_(model), machine_(machine), call_(call) {}

  /// @param estimate  predicted seconds, the primary sort key; if 0 for all, the number of operations decides
  /// @param gain      the factor by which it must be faster than others, besides that of its GPUs
  void add(const Candidate& candidate, double estimate = 0, double gain = 1) {
    const auto task = call_.task(candidate);
    const double flops = model_.flops_per_multiply_add * static_cast<double>(task.m) * static_cast<double>(task.n) *
                         static_cast<double>(task.k),
                 tasks = call_.flops() / flops;
    double rate = 0;
    for (int gpu = 0; gpu < candidate.gpus; gpu++)
      rate += 1 / model_.gpus[index(gpu)].task_seconds("gemm", {flops}, model_.element_size);
    const double worse =
        gain * handicap(candidate.gpus) * std::pow(clear_gain_of_tasks, std::log2(std::max(tasks, 1.0)));
    candidates_.push_back({candidate, tasks / rate * worse, tasks, estimate * worse, worse});
  }

  ChoiceOf<Candidate> best() {
    sort();
    for (const auto& considered : candidates_)
      if (considered.bound < limit_ && has_time(considered.operations)) rehearse(considered);
    return best_;
  }

  /// Explains the choice: rehearses more candidates than a call has time for.
  void explain(std::vector<detail::Considered>& all) {
    sort();
    double left = operations_to_explain;
    for (const auto& considered : candidates_) {
      if (considered.operations > most_operations || considered.operations > left) continue;
      left -= considered.operations;
      const auto& candidate = considered.candidate;
      write(candidate);
      Rehearsal rehearsal(model_, graph_, candidate.gpus);
      auto forecast = rehearsal.run();
      if (forecast.seconds == never) continue;
      rehearsal.explain(forecast);
      all.push_back({call_.task(candidate), candidate.panels.exist(), candidate.gpus, forecast.seconds, forecast.bound,
                     forecast.longest / forecast.seconds});
    }
  }

 private:
  struct Considered {
    Candidate candidate;
    double bound;       ///< lower bound of the time: arithmetic alone, with the handicap
    double operations;  ///< approximate number
    double estimate;
    double worse;  ///< the factor by which the predicted time counts as longer
  };

  void sort() {
    std::ranges::stable_sort(candidates_, {}, [](const Considered& c) { return std::pair(c.estimate, c.operations); });
  }

  /// The factor by which the time of a candidate counts as longer because the candidate uses more GPUs.
  double handicap(int gpus) const {
    const auto first = model_.gpus.begin();
    const bool alike = std::all_of(first, first + gpus, [](const Gpu& gpu) { return gpu.alike_first; });
    return std::pow(clear_gain, std::log2(gpus)) * (alike ? 1 : clear_gain_of_unlike);
  }

  bool has_time(double operations) const {
    const double allowed = std::max(planning_least, planning_share * best_.seconds) / rehearsal_of_operation;
    return best_.seconds == never ? operations <= most_operations : spent_ + operations <= allowed;
  }

  void write(const Candidate& candidate) {
    graph_.clear();
    graph_.operands = machine_.operands, graph_.owners = detail::owner_grid(machine_.gpu_count());
    call_.write(machine_, candidate, graph_);
  }

  void rehearse(const Considered& considered) {
    const auto& candidate = considered.candidate;
    write(candidate);
    Rehearsal rehearsal(model_, graph_, candidate.gpus);
    const double worse = considered.worse;
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
  ChoiceOf<Candidate> best_;
  double limit_ = never, spent_ = 0;
};

}  // namespace tessera::plan
