// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/recorded_run.hpp"

namespace tessera::trace {

inline constexpr std::uint64_t megabyte = 1'000'000;

/// Builds a small run by hand, with times in whole seconds and tiles of whole megabytes. Node 0 is the host. GPU g is
/// worker g and node g + 1. CPU workers follow.
class SmallRun {
 public:
  Run run;

  explicit SmallRun(int gpus, int cpus = 0) {
    run.nodes = {{"host", Kind::Host}};
    run.routines = {{"gemm", 0x0072b2}, {"trsm", 0xd55e00}};
    for (int g = 0; g < gpus; ++g) {
      run.nodes.push_back({"GPU " + std::to_string(g), Kind::Gpu});
      run.workers.push_back({"GPU " + std::to_string(g), Kind::Gpu, g + 1});
    }
    for (int c = 0; c < cpus; ++c) run.workers.push_back({"CPU " + std::to_string(c), Kind::Host, 0});
  }

  int tile(char operand, int row, int column, std::uint64_t bytes = 100 * megabyte) {
    run.tiles.push_back({operand, row, column, bytes, false});
    return static_cast<int>(run.tiles.size()) - 1;
  }
  int temporary(std::uint64_t bytes = 100 * megabyte) {
    run.tiles.push_back({'C', none, none, bytes, true});
    return static_cast<int>(run.tiles.size()) - 1;
  }

  Access read(int tile) const { return {tile, run.tiles[tile].operand, true, false, false}; }
  Access write(int tile) const { return {tile, run.tiles[tile].operand, false, true, false}; }
  Access update(int tile) const { return {tile, run.tiles[tile].operand, true, true, false}; }

  /// Adds a task that is submitted and ready at time 0. The span is extended to its end.
  int task(int worker, double start, double end, std::vector<Access> accesses = {}, std::vector<int> after = {}) {
    Task task;
    task.job = 100 + static_cast<long>(run.tasks.size()), task.routine = 0, task.worker = worker;
    task.start = start, task.end = end, task.flops = 1e9 * (end - start);
    for (const auto& access : accesses)
      if (access.write)
        task.output = access.operand, task.row = run.tiles[access.tile].row,
        task.column = run.tiles[access.tile].column;
    task.accesses = std::move(accesses), task.after = std::move(after);
    for (const int other : task.after) task.ready = std::max(task.ready, run.tasks[other].end);
    run.span = std::max(run.span, end);
    run.tasks.push_back(std::move(task));
    return static_cast<int>(run.tasks.size()) - 1;
  }
  int submitted_at(double time, int task) {
    run.tasks[task].submitted = time;
    run.tasks[task].ready = std::max(run.tasks[task].ready, time);
    return task;
  }

  /// Adds a transfer. Calls must be in the order of the starts.
  int transfer(int tile, int from, int to, double start, double end,
               Transfer::Reason reason = Transfer::Reason::Fetch) {
    const auto& moved = run.tiles[tile];
    run.transfers.push_back({from, to, tile, moved.operand, reason, moved.bytes, start, end});
    run.span = std::max(run.span, end);
    return static_cast<int>(run.transfers.size()) - 1;
  }
};

}  // namespace tessera::trace
