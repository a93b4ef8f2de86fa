// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/traffic.hpp"

namespace tessera::trace {

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

}  // namespace tessera::trace
