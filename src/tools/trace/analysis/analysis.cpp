// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/analysis.hpp"

#include "trace/analysis/parts.hpp"

namespace tessera::trace {

namespace {

struct Change {
  double time;
  int by;
};

Series sum(std::vector<Change> changes) {
  std::ranges::sort(changes, {}, &Change::time);
  Series series{{0}, {0}};
  int count = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const double time = changes[i].time;
    for (; i < changes.size() && changes[i].time == time; ++i) count += changes[i].by;
    if (count == series.count.back()) continue;
    if (time > series.time.back()) series.time.push_back(time), series.count.push_back(count);
    else series.count.back() = count;
  }
  return series;
}

}  // namespace

Series ready_tasks(const Lookups& lookups) {
  std::vector<Change> changes;
  for (const auto& task : lookups.run.tasks) {
    const bool started = lookups.started(task);
    if (started) changes.insert(changes.end(), {{lookups.ready(task), 1}, {lookups.start(task), -1}});
    else if (const double ready = std::max(task.submitted, task.ready); ready < lookups.run.span)
      changes.push_back({ready, 1});
  }
  return sum(std::move(changes));
}

Series running_tasks(const Lookups& lookups) {
  std::vector<Change> changes;
  for (const auto& task : lookups.run.tasks)
    if (lookups.started(task)) changes.insert(changes.end(), {{lookups.start(task), 1}, {lookups.end(task), -1}});
  return sum(std::move(changes));
}

int least_between(const Series& series, double begin, double end) {
  const auto after = std::ranges::upper_bound(series.time, begin) - series.time.begin();
  int least = after > 0 ? series.count[after - 1] : 0;
  for (auto i = static_cast<std::size_t>(after); i < series.time.size() && series.time[i] < end; ++i)
    least = std::min(least, series.count[i]);
  return least;
}

std::vector<LinkUse> use_of_links(const Lookups& lookups) {
  struct Use {
    LinkUse sum;
    double until = 0;
  };
  std::map<std::pair<int, int>, Use> links;
  for (const auto& transfer : lookups.run.transfers) {  // transfers are in the order of their starts
    auto& [sum, until] = links[{transfer.from, transfer.to}];
    const double start = std::max(lookups.start(transfer), until), end = lookups.end(transfer);
    sum.from = transfer.from, sum.to = transfer.to;
    sum.bytes += transfer.bytes, ++sum.transfers;
    sum.by_operand[transfer.operand] += transfer.bytes;
    sum.busy += std::max(0.0, end - start);
    until = std::max(until, end);
  }
  std::vector<LinkUse> result;
  result.reserve(links.size());
  for (auto& [ends, use] : links) result.push_back(std::move(use.sum));
  return result;
}

namespace {

using ByOperand = std::map<char, OperandTraffic>;

/// Adds the compulsory bytes: the total that must enter the GPUs, and the total that must leave them.
void add_least(ByOperand& operands, const Lookups& lookups) {
  const auto& run = lookups.run;
  struct Seen {
    bool written = false, brought = false, computed = false;
  };
  std::vector<Seen> seen(run.tiles.size());
  for (const auto& task : run.tasks) {  // tasks are in order of submission: a tile is written before it is read
    const bool gpu = lookups.on_gpu(task);
    for (const auto& access : task.accesses) {
      if (!Lookups::lasts(access)) continue;
      auto& operand = operands[access.operand];
      const auto& tile = run.tiles[access.tile];
      auto& [written, brought, computed] = seen[access.tile];
      if (!gpu || tile.temporary) continue;
      if (access.read && !written && !brought) operand.least_in += tile.bytes, brought = true;
      if (access.write && !computed) operand.least_out += tile.bytes, computed = true;
    }
    for (const auto& access : task.accesses)
      if (access.write && Lookups::lasts(access)) seen[access.tile].written = true;
  }
}

}  // namespace

std::vector<OperandTraffic> traffic_of_operands(const Lookups& lookups) {
  const auto& run = lookups.run;
  ByOperand operands;
  add_least(operands, lookups);
  for (const auto& transfer : run.transfers) {
    const bool from_gpu = run.nodes[transfer.from].kind == Kind::Gpu, to_gpu = run.nodes[transfer.to].kind == Kind::Gpu;
    auto& operand = operands[transfer.operand];
    if (from_gpu && to_gpu) operand.between_gpus += transfer.bytes;
    else if (to_gpu) operand.in += transfer.bytes;
    else if (from_gpu) operand.out += transfer.bytes;
  }
  std::vector<OperandTraffic> result;
  for (auto& [letter, traffic] : operands) {
    traffic.operand = letter;
    if (letter != '-' || traffic.in + traffic.least_in + traffic.out + traffic.least_out + traffic.between_gpus > 0)
      result.push_back(traffic);
  }
  return result;
}

Hits hits_of(const Lookups& lookups) {
  const auto& run = lookups.run;
  enum Found : char { Unread, Own, Peer, Host };
  std::vector<std::vector<Found>> found(run.tasks.size());
  for (std::size_t i = 0; i < run.tasks.size(); ++i)
    if (const auto& task = run.tasks[i]; lookups.on_gpu(task))
      for (const auto& access : task.accesses) found[i].push_back(access.read && Lookups::lasts(access) ? Own : Unread);
  for (std::size_t i = 0; i < run.transfers.size(); ++i) {
    const auto [task, access] = lookups.use_of(static_cast<int>(i));
    if (task != none && lookups.on_gpu(run.tasks[task]))
      found[task][access] = run.nodes[run.transfers[i].from].kind == Kind::Gpu ? Peer : Host;
  }
  Hits hits;
  for (const auto& task : found)
    for (const Found where : task) hits.own += where == Own, hits.peer += where == Peer, hits.host += where == Host;
  return hits;
}

Analysis analyse(const Run& run) {
  const Lookups lookups(run);
  Analysis analysis;
  analysis.ready = ready_tasks(lookups);
  analysis.running = running_tasks(lookups);

  constexpr std::size_t most = 10;
  auto gaps = find_gaps(lookups, most);
  analysis.workers = std::move(gaps.workers);
  analysis.worst_gaps = std::move(gaps.worst);
  for (auto& gap : analysis.worst_gaps) gap.text = explain(lookups, analysis.ready, gap);

  for (int worker = 0; worker < std::ssize(run.workers); ++worker)
    analysis.tasks_of_worker.push_back(lookups.tasks_of(worker).size());
  for (const bool gpu : {true, false})
    for (int worker = 0; worker < std::ssize(run.workers); ++worker)
      if ((run.workers[worker].kind == Kind::Gpu) == gpu && (gpu || analysis.tasks_of_worker[worker] > 0))
        analysis.shown_workers.push_back(worker);
  for (const auto& task : run.tasks)
    if (lookups.started(task)) analysis.flops += task.flops;

  analysis.links = use_of_links(lookups);
  analysis.operands = traffic_of_operands(lookups);
  analysis.hits = hits_of(lookups);

  auto followed = follow_back(lookups);
  followed.path.longest_chain = longest_chain(lookups);
  analysis.bounds = bounds_of(lookups, analysis.links, followed.path.longest_chain);
  followed.path.text = explain(lookups, followed, analysis.bounds);
  analysis.path = std::move(followed.path);

  thin(analysis.ready.time, analysis.ready.count, run.span);
  thin(analysis.running.time, analysis.running.count, run.span);
  return analysis;
}

}  // namespace tessera::trace
