// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/parts.hpp"
#include "trace/words.hpp"

namespace tessera::trace {

double longest_chain(const Lookups& lookups) {
  const auto& tasks = lookups.run.tasks;
  std::vector<double> until(tasks.size());
  double longest = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {  // tasks are in order of submission, so dependencies come first
    double begin = 0;
    for (const int other : tasks[i].after)
      if (other < static_cast<int>(i)) begin = std::max(begin, until[other]);
    until[i] = begin + (lookups.started(tasks[i]) ? lookups.end(tasks[i]) - lookups.start(tasks[i]) : 0);
    longest = std::max(longest, until[i]);
  }
  return longest;
}

namespace {

/// The highest observed rate of a link: in one transfer, or in consecutive transfers without a pause. Small transfers
/// are left out, because the recorded times are not accurate enough for them.
double largest_rate(const Lookups& lookups, int from, int to) {
  constexpr double small = 1e6;
  double largest = 0, begin = 0, until = -1, carried = 0;
  const auto see = [&](double bytes, double seconds) {
    if (bytes >= small && seconds > 0) largest = std::max(largest, bytes / seconds);
  };
  for (const auto& transfer : lookups.run.transfers) {
    if (transfer.from != from || transfer.to != to) continue;
    const double start = lookups.start(transfer), end = lookups.end(transfer);
    see(static_cast<double>(transfer.bytes), end - start);
    if (start > until) carried = 0, begin = start;
    carried += static_cast<double>(transfer.bytes), until = std::max(until, end);
    see(carried, until - begin);
  }
  return largest;
}

double known_rate(const Run& run, int from, int to) {
  for (const auto& link : run.counted.links)
    if (link.from == from && link.to == to) return link.rate;
  return 0;
}

}  // namespace

std::vector<Bound> bounds_of(const Lookups& lookups, const std::vector<LinkUse>& links, double longest_chain) {
  const auto& run = lookups.run;
  std::vector<Bound> bounds;
  for (const Kind kind : {Kind::Gpu, Kind::Host}) {
    double computing = 0;
    int workers = 0;
    for (int worker = 0; worker < std::ssize(run.workers); ++worker) {
      if (run.workers[worker].kind != kind) continue;
      double free = 0;  // tasks of a worker may overlap if one is launched before the previous one ends
      for (const int i : lookups.tasks_of(worker)) {
        const double begin = std::max(free, lookups.start(run.tasks[i])), end = lookups.end(run.tasks[i]);
        computing += std::max(0.0, end - begin), free = std::max(free, end);
      }
      workers += !lookups.tasks_of(worker).empty();
    }
    const std::string of_kind = kind == Kind::Gpu ? (workers == 1 ? "the GPU" : "the GPUs") : "the CPU cores";
    if (workers > 0) bounds.push_back({"computing on " + of_kind, computing / workers});
  }
  for (const auto& link : links) {
    const double known = known_rate(run, link.from, link.to);
    const double rate = known > 0 ? known : largest_rate(lookups, link.from, link.to);
    // A link that exceeded its rate in StarPU's model has shown its true minimum.
    if (rate > 0)
      bounds.push_back(
          {link_name(run, link.from, link.to), std::min(static_cast<double>(link.bytes) / rate, link.busy)});
  }
  if (longest_chain > 0) bounds.push_back({"the longest chain of tasks", longest_chain});
  std::ranges::stable_sort(bounds, std::ranges::greater{}, &Bound::seconds);
  return bounds;
}

namespace {

/// "3 GPUs"
std::string several(const Run& run, const std::map<int, double>& workers) {
  const auto is_gpu = [&](const auto& entry) { return run.workers[entry.first].kind == Kind::Gpu; };
  const auto gpus = std::ranges::count_if(workers, is_gpu);
  return fmt::format("{} {}", workers.size(), gpus == std::ssize(workers) ? "GPUs" : gpus == 0 ? "cores" : "workers");
}

}  // namespace

std::string explain(const Lookups& lookups, const Followed& followed, const std::vector<Bound>& bounds) {
  const auto& run = lookups.run;
  const auto& parts = followed.path.parts;
  if (run.span <= 0 || followed.path.tasks.empty()) return "No task has run.";
  const auto most = [](const auto& by_place) {
    return std::ranges::max_element(by_place, {}, [](const auto& entry) { return entry.second; });
  };
  // A worker or link is named if nearly all of that time was spent on it.
  constexpr double nearly = 0.9;
  std::vector<std::pair<double, std::string>> all;
  const auto worker = most(followed.computing);
  const bool one_worker = worker->second >= nearly * parts.computing;
  all.emplace_back(parts.computing,
                   "computing on " + (one_worker ? run.workers[worker->first].name : several(run, followed.computing)));
  for (const Kind kind : {Kind::Gpu, Kind::Host}) {
    std::map<std::pair<int, int>, double> links;
    double time = 0;
    for (const auto& [ends, seconds] : followed.transfers)
      if (run.nodes[ends.second].kind == kind) links[ends] = seconds, time += seconds;
    const auto link = most(links);
    if (link == links.end()) continue;
    const auto name = link_name(run, link->first.first, link->first.second);
    all.emplace_back(time, (kind == Kind::Gpu ? "waiting for tiles" : "waiting for results on their way to the host") +
                               (link->second >= nearly * time ? " over " + name : ", mostly over " + name));
  }
  all.emplace_back(parts.overhead, "the runtime and the scheduler");
  all.emplace_back(parts.idle, "waiting for the program to submit");
  std::ranges::stable_sort(all, std::ranges::greater{}, [](const auto& part) { return part.first; });
  std::string text;
  for (const auto& [time, what] : all) {
    if (time < 0.005 * run.span) continue;
    text += text.empty() ? percent(time / run.span) + " of the time to the end was "
                         : ", " + percent(time / run.span) + " ";
    text += what;
  }
  if (bounds.empty() || bounds.front().seconds <= 0) return text + ".";
  constexpr double close = 0.9;
  const auto& [name, least] = bounds.front();
  return text +
         fmt::format("; its largest lower bound, {}, is {}, {} of that time{}.", name, seconds(least),
                     percent(least / run.span),
                     least >= close * run.span && name.starts_with("computing") ? ", so little can be gained" : "");
}

}  // namespace tessera::trace
