// SPDX-License-Identifier: BSD-3-Clause
// make_pages FOLDER: writes pages and tables of synthetic runs for test_page.py.
//   small/  a product on 2 GPUs and a core, with texts that need escaping
//   large/  100,000 tasks on 4 GPUs and 2 cores
//   empty/  a run without tasks
//   two/    two runs of small/, the second one slower, with their tables in 1/ and 2/
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>

#include "trace/output/outputs.hpp"

using namespace tessera::trace;

namespace {

struct Machine {
  int gpus = 2, cores = 1;
  double gpu_task = 1e-3, core_task = 20e-3;  ///< seconds of a product of tiles
  double link = 50e9;                         ///< bytes/s
};

struct Product {
  int rows, columns, steps;
};

/// Simulates a tiled product on a machine. Each GPU computes its tiles of C in turn.
class Story {
 public:
  Story(const Machine& machine, const Product& product) : machine_(machine), product_(product) {
    run_.machine = std::to_string(machine.gpus) + " made-up GPUs, " + std::to_string(machine.cores) + " cores";
    run_.policy = "tessera";
    run_.routines = {{"gemm", 0x4477aa}, {"scale", 0x999999}};
    run_.nodes = {{"host", Kind::Host}};
    for (int core = 0; core < machine.cores; ++core)
      run_.workers.push_back({"CPU " + std::to_string(core), Kind::Host, 0});
    for (int gpu = 0; gpu < machine.gpus; ++gpu) {
      run_.nodes.push_back({"GPU " + std::to_string(gpu), Kind::Gpu});
      run_.workers.push_back({"GPU " + std::to_string(gpu), Kind::Gpu, gpu + 1});
      run_.memory.push_back({gpu + 1, {0}, {0}});
    }
    free_.resize(run_.workers.size());
  }

  Run told() {
    for (int step = 0; step < product_.steps; ++step)
      for (int row = 0; row < product_.rows; ++row)
        for (int column = 0; column < product_.columns; ++column) multiply(row, column, step);
    for (int row = 0; row < product_.rows; ++row)
      for (int column = 0; column < product_.columns; ++column) write_back(tile('C', row, column));
    std::ranges::stable_sort(run_.transfers, {}, &Transfer::start);
    for (const auto& task : run_.tasks) run_.span = std::max(run_.span, task.end);
    for (const auto& moved : run_.transfers) run_.span = std::max(run_.span, moved.end);
    return run_;
  }

 private:
  static constexpr std::uint64_t tile_bytes = 8 << 20;
  static double whole_microseconds(double seconds) { return std::round(seconds * 1e6) * 1e-6; }

  int tile(char operand, int row, int column) {
    const auto [known, is_new] = tiles_.try_emplace({operand, row, column}, static_cast<int>(run_.tiles.size()));
    if (is_new) {
      run_.tiles.push_back({operand, row, column, tile_bytes});
      copies_[known->second][0] = 0;
    }
    return known->second;
  }

  /// The cores compute one tile in fifty.
  int worker_of(int row, int column) const {
    const int number = row * product_.columns + column;
    return number % 50 == 7 ? number / 50 % machine_.cores : machine_.cores + number % machine_.gpus;
  }

  void multiply(int row, int column, int step) {
    const int worker = worker_of(row, column), C = tile('C', row, column);
    if (step == 0) add(1, worker, 0.1, row, column, none, {{C, 'C', true, true}});
    add(0, worker, 1, row, column, step,
        {{tile('A', row, step), 'A', true}, {tile('B', step, column), 'B', true}, {C, 'C', true, true}});
  }

  void add(int routine, int worker, double work, int row, int column, int step, std::vector<Access> accesses) {
    const auto& place = run_.workers[worker];
    Task task;
    task.job = static_cast<long>(run_.tasks.size()) + 10, task.routine = routine, task.worker = worker;
    task.row = row, task.column = column, task.step = step, task.output = 'C';
    task.submitted = whole_microseconds(1e-6 * static_cast<double>(run_.tasks.size()));
    task.ready = task.submitted;
    const int C = accesses.back().tile;
    if (const auto writer = writers_.find(C); writer != writers_.end()) {
      task.after.push_back(writer->second);
      task.ready = std::max(task.ready, run_.tasks[writer->second].end);
    }
    task.start = std::max(task.ready, free_[worker]);
    for (const auto& access : accesses)
      task.start = std::max(task.start, arrival(access.tile, access.operand, place.node, task.submitted));
    task.start = whole_microseconds(task.start + 2e-6);
    const double pace = place.kind == Kind::Gpu ? machine_.gpu_task : machine_.core_task;
    task.end = whole_microseconds(task.start + work * pace * (1 + 0.1 * ((row * 7 + column * 3 + step) % 5)));
    task.flops = work * 2e9;
    copies_[C] = {{place.node, task.end}};
    writers_[C] = static_cast<int>(run_.tasks.size());
    free_[worker] = task.end;
    task.accesses = std::move(accesses);
    run_.tasks.push_back(std::move(task));
  }

  /// Returns when the tile arrives at the node. Every second time, the tile comes from another GPU if one has it.
  double arrival(int tile, char operand, int node, double asked) {
    auto& copies = copies_[tile];
    if (const auto here = copies.find(node); here != copies.end()) return here->second;
    const bool from_gpu = copies.size() > 1 && tile % 2 == 0;
    const auto& [from, since] = from_gpu ? *copies.rbegin() : *copies.begin();
    const double end = move(tile, operand, from, node, std::max(since, asked), Transfer::Reason::Prefetch);
    return copies[node] = end;
  }

  double move(int tile, char operand, int from, int to, double not_before, Transfer::Reason reason) {
    double& free = links_[{from, to}];
    const double start = whole_microseconds(std::max(free, not_before));
    const double end = whole_microseconds(start + static_cast<double>(tile_bytes) / machine_.link);
    run_.transfers.push_back({from, to, tile, operand, reason, tile_bytes, start, end});
    // Two transfers overlap: the next starts when this one is half done.
    free = (start + end) / 2;
    if (to > 0) {
      auto& use = run_.memory[to - 1];
      use.time.push_back(std::max(use.time.back(), start));
      use.bytes.push_back(use.bytes.back() + static_cast<double>(tile_bytes));
    }
    return end;
  }

  void write_back(int tile) {
    const auto [from, since] = *copies_[tile].begin();
    if (from > 0) move(tile, 'C', from, 0, since, Transfer::Reason::WriteBack);
  }

  Machine machine_;
  Product product_;
  Run run_;
  std::vector<double> free_;
  std::map<std::tuple<char, int, int>, int> tiles_;
  std::map<int, std::map<int, double>> copies_;  ///< by tile and node: when the copy arrived
  std::map<int, int> writers_;
  std::map<std::pair<int, int>, double> links_;
};

Explained explained(Run run) {
  auto analysis = analyse(run);
  return {std::move(run), std::move(analysis)};
}

Explained small(double gpu_task) {
  auto run = Story({.gpu_task = gpu_task, .link = 20e9}, {5, 5, 4}).told();
  run.title = "a small product </script><script>window.broken = true</script>";
  run.command = "tessera-bench gemm --m 5000 <!-- & \"quoted\" 'text' é";
  run.warnings = {"The trace ends before the run did: <b>its buffer was full</b>."};
  run.simulated = true;
  return explained(std::move(run));
}

Explained large() {
  auto run = Story({.gpus = 4, .cores = 2}, {50, 50, 39}).told();
  run.title = "a product of 100,000 tasks on 4 GPUs";
  run.command = "tessera-bench gemm --m 50000 --n 50000 --k 39000 --tile 1000";
  return explained(std::move(run));
}

void write_tables(const std::filesystem::path& folder, const Run& run) {
  std::filesystem::create_directories(folder);
  write_tasks_csv(folder / "tasks.csv", run);
  write_transfers_csv(folder / "transfers.csv", run);
}

void write_all(const std::filesystem::path& folder, const Explained& run) {
  write_tables(folder, run.run);
  write_page(folder / "report.html", {run});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: make_pages FOLDER\n", stderr), 2;
  const std::filesystem::path folder = argv[1];
  write_all(folder / "empty", explained({}));
  const auto one = small(1e-3), slower = small(1.6e-3);
  write_all(folder / "small", one);
  write_all(folder / "large", large());
  write_tables(folder / "two/1", one.run);
  write_tables(folder / "two/2", slower.run);
  write_page(folder / "two/report.html", {one, slower});
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_pages: %s\n", error.what());
  return 1;
}
