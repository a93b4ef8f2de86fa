// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "trace/output/outputs.hpp"

namespace tessera::trace {

/// A synthetic run of C ← AB + C with `grid`³ tasks on GPUs or cores. Each worker computes its tiles of C one after
/// another. Each GPU gets every tile that it reads once from the host, in the same order, and copies its results back.
struct Generated {
  int gpus = 4, cores = 0, grid = 8;
  double task = 2e-3, transfer = 1.2e-3;  ///< seconds
  std::uint64_t tile_bytes = 32 << 20;
};

class Generator {
 public:
  explicit Generator(const Generated& wanted) : wanted_(wanted) {
    auto& run = made_.run;
    run.title = "dgemm m=16384 n=16384 k=16384";
    run.machine = std::to_string(wanted.gpus) + " GPUs, " + std::to_string(wanted.cores) + " cores";
    run.policy = "tessera";
    run.nodes = {{"host", Kind::Host}};
    run.routines = {{"gemm", 0x4477aa}, {"add", 0x999933}};
    for (int gpu = 0; gpu < wanted.gpus; ++gpu) {
      const auto name = "GPU " + std::to_string(gpu);
      run.nodes.push_back({name, Kind::Gpu});
      run.workers.push_back({name, Kind::Gpu, gpu + 1});
    }
    for (int core = 0; core < wanted.cores; ++core)
      run.workers.push_back({"CPU " + std::to_string(core), Kind::Host, 0});
    run.memory.resize(static_cast<std::size_t>(wanted.gpus));
  }

  Explained make() {
    auto& run = made_.run;
    const int workers = wanted_.gpus > 0 ? wanted_.gpus : wanted_.cores;
    for (int i = 0; i < wanted_.grid; ++i)
      for (int j = 0; j < wanted_.grid; ++j) {
        const int worker = (i * wanted_.grid + j) % workers;
        for (int k = 0; k < wanted_.grid; ++k) compute(worker, i, j, k);
        if (worker < wanted_.gpus) move(worker + 1, 0, 'C', i, j, free_[worker]);
      }
    for (const auto& task : run.tasks) run.span = std::max(run.span, task.end);
    for (const auto& transfer : run.transfers) run.span = std::max(run.span, transfer.end);
    std::ranges::sort(run.transfers, {}, &Transfer::start);
    explain();
    return std::move(made_);
  }

 private:
  void compute(int worker, int i, int j, int k) {
    double ready = free_[worker];
    if (worker < wanted_.gpus) {
      ready = std::max(ready, fetched(worker + 1, 'A', i, k));
      ready = std::max(ready, fetched(worker + 1, 'B', k, j));
    }
    Task task;
    task.job = static_cast<long>(made_.run.tasks.size()) + 1;
    task.routine = k % 8 == 7 ? 1 : 0;
    task.worker = worker;
    task.row = i, task.column = j, task.step = k, task.output = 'C';
    task.start = ready;
    task.end = free_[worker] = ready + wanted_.task * (1 + 0.3 * ((i * 7 + j * 3 + k) % 5));
    task.flops = 2.0 * 2048 * 2048 * 2048;
    made_.run.tasks.push_back(task);
  }

  double fetched(int node, char operand, int row, int column) {
    const auto [at, is_new] = arrival_.try_emplace({node, operand, row, column});
    if (is_new) at->second = move(0, node, operand, row, column, 0);
    return at->second;
  }

  double move(int from, int to, char operand, int row, int column, double not_before) {
    auto& run = made_.run;
    double& busy_until = link_[{from, to}];
    const double start = std::max(busy_until, not_before);
    busy_until = start + wanted_.transfer;
    run.tiles.push_back({operand, row, column, wanted_.tile_bytes, false});
    run.transfers.push_back({from, to, static_cast<int>(run.tiles.size()) - 1, operand, Transfer::Reason::Fetch,
                             wanted_.tile_bytes, start, busy_until});
    if (to > 0) {
      auto& use = run.memory[static_cast<std::size_t>(to - 1)];
      use.node = to;
      use.time.push_back(start);
      use.bytes.push_back(static_cast<double>(wanted_.tile_bytes) * static_cast<double>(use.time.size()));
    }
    return busy_until;
  }

  /// Fills in the parts of the analysis that the picture shows, so that its test depends on nothing else.
  void explain() {
    auto& [run, analysis] = made_;
    analysis.workers.resize(run.workers.size());
    std::map<double, int> starts;
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
      const auto& task = run.tasks[i];
      analysis.workers[static_cast<std::size_t>(task.worker)].computing += task.end - task.start;
      analysis.flops += task.flops;
      ++starts[task.start], --starts[task.end];
      if (task.worker == 0) analysis.path.tasks.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < run.workers.size(); ++i)  // GPUs are first
      if (run.workers[i].kind == Kind::Gpu || analysis.workers[i].computing > 0)
        analysis.shown_workers.push_back(static_cast<int>(i));
    int running = 0;
    for (const auto& [time, change] : starts) {
      analysis.running.time.push_back(time), analysis.running.count.push_back(running += change);
      analysis.ready.time.push_back(time);
      analysis.ready.count.push_back(static_cast<int>(starts.size() - analysis.ready.time.size()));
    }
    for (const auto& [nodes, busy] : link_) {
      LinkUse use;
      use.from = nodes.first, use.to = nodes.second, use.busy = busy;
      for (const auto& transfer : run.transfers)
        if (std::pair(transfer.from, transfer.to) == nodes) use.bytes += transfer.bytes, ++use.transfers;
      analysis.links.push_back(use);
    }
  }

  Generated wanted_;
  Explained made_;
  std::map<int, double> free_;
  std::map<std::pair<int, int>, double> link_;
  std::map<std::tuple<int, char, int, int>, double> arrival_;
};

inline Explained generated(const Generated& wanted) { return Generator(wanted).make(); }

}  // namespace tessera::trace
