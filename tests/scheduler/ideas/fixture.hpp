// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/ideas/choosing.hpp"
#include "scheduler/ideas/membership.hpp"
#include "scheduler/ideas/placing.hpp"
#include "scheduler/ideas/running.hpp"
#include "scheduler/ideas/state.hpp"

/// A machine that consists of tables, for the tests of the policy's ideas. No runtime is started.
namespace tessera::scheduler {

constexpr std::size_t tile_bytes = 1000;
constexpr std::size_t gpu_memory = 100 * tile_bytes;

inline TileId tile(std::uintptr_t number) { return reinterpret_cast<TileId>(number); }

inline TileUse reads(std::uintptr_t number, std::size_t bytes = tile_bytes) {
  return {.tile = tile(number), .bytes = bytes, .memory = bytes, .reads = true, .only_reads = true};
}
inline TileUse updates(std::uintptr_t number, std::size_t bytes = tile_bytes) {
  return {.tile = tile(number), .bytes = bytes, .memory = bytes, .reads = true, .writes = true};
}
inline TileUse overwrites(std::uintptr_t number, std::size_t bytes = tile_bytes) {
  return {.tile = tile(number), .bytes = bytes, .memory = bytes, .writes = true};
}

class FakeBackend final : public Backend {
 public:
  bool valid(TileId tile, unsigned node) const override { return where.contains({tile, node}); }
  bool arriving(TileId tile, unsigned node) const override {
    return !valid(tile, node) && on_the_way.contains({tile, node});
  }
  bool has_own_wires(unsigned source, unsigned destination) const override {
    return own_wires.contains({source, destination});
  }
  int suggested_home(TileId tile) const override {
    const auto home = homes.find(tile);
    return home != homes.end() ? home->second : no_worker;
  }
  bool is_planned(TileId tile) const override { return planned.contains(tile); }
  bool may_fetch(TileId tile) const override { return fetchable.contains(tile); }
  bool is_member(int worker) const override { return !gone.contains(worker); }
  std::optional<unsigned> implementation(TaskId task, int worker) const override {
    if (cannot && cannot(task, worker)) return std::nullopt;
    return first_implementation;
  }
  void set_implementation(TaskId task, unsigned number) override { chosen[task] = number; }
  double modelled_seconds(TaskId /*task*/, int worker) const override {
    const auto known = seconds.find(worker);
    return known != seconds.end() ? known->second : 0;
  }
  void set_counted(TaskId task, bool is_counted) override { counted[task] = is_counted; }

  std::set<std::pair<TileId, unsigned>> where, on_the_way;  ///< tiles and memory nodes
  std::set<std::pair<unsigned, unsigned>> own_wires;        ///< memory nodes
  std::map<TileId, int> homes;
  std::set<TileId> planned, fetchable;
  std::function<bool(TaskId, int)> cannot;  ///< whether a worker cannot execute a task; null: every worker can
  std::map<int, double> seconds;            ///< by worker
  std::set<int> gone;                       ///< workers that have left the context
  std::map<TaskId, bool> counted;
  unsigned first_implementation = 0;
  std::map<TaskId, unsigned> chosen;
};

/// A host and up to four GPUs, in memory nodes 1 to 4. GPUs 1 and 2 are peers, and so are 3 and 4. The worker of a GPU
/// has the number of its node.
class IdeaTest : public ::testing::Test {
 protected:
  IdeaTest() {
    constexpr double to_host = 10, peer = 50, no_peer = 5;  // MB/s
    Links links{{false, true, true, true, true}, std::vector(5, std::vector<double>(5, to_host))};
    for (unsigned a = 1; a <= 4; a++)
      for (unsigned b = 1; b <= 4; b++) links.rate[a][b] = (a - 1) / 2 == (b - 1) / 2 ? peer : no_peer;
    state.cache.set_links(links);
  }

  Worker& add_gpu(unsigned node) {
    add_worker(state, static_cast<int>(node), node, false);
    auto& worker = *find_worker(state, static_cast<int>(node));
    worker.memory = gpu_memory;
    return worker;
  }
  Worker& add_cpu(int id) {
    add_worker(state, id, host_node, true);
    auto& worker = *find_worker(state, id);
    worker.memory = gpu_memory;
    return worker;
  }

  /// Submits a task that is ready, and does not queue it.
  TaskPtr submit(std::vector<TileUse> tiles, int priority = 0, bool restricted = false) {
    auto task = std::make_unique<Task>();
    task->id = reinterpret_cast<TaskId>(++tasks_);
    task->tiles = std::move(tiles);
    for (const auto& use : task->tiles) {
      task->memory += use.memory;
      if (task->output == nullptr && use.writes) task->output = use.tile, task->output_memory = use.memory;
    }
    task->flops = task_flops;
    task->priority = priority;
    task->restricted = restricted;
    task_submitted(state, task->id, task->tiles, priority, task_flops);
    task->order = state.unfinished.at(task->id).order;
    find_executors(state, *task);
    return task;
  }
  /// Submits a task that is ready, and queues it where it belongs.
  TaskId push(std::vector<TileUse> tiles, int priority = 0) {
    auto task = submit(std::move(tiles), priority);
    const auto id = task->id;
    task_ready(state, std::move(task));
    return id;
  }
  /// Submits a task, and puts it into a reservation station.
  TaskId reserve(Worker& worker, std::vector<TileUse> tiles, int priority = 0) {
    auto task = submit(std::move(tiles), priority);
    const auto id = task->id;
    const bool large = is_large(state, worker, *task);
    state.waiting++;
    worker.station.reserve(std::move(task), state.cache, worker.node, large);
    return id;
  }
  /// Submits a task that the worker has popped.
  TaskId pop(Worker& worker, std::vector<TileUse> tiles) {
    auto task = submit(std::move(tiles));
    const auto id = task->id;
    if (task->output != nullptr) state.chains.set_home(task->output, worker.id);
    const bool large = is_large(state, worker, *task);
    state.waiting++;
    task_popped(state, worker, {.task = std::move(task), .large = large});
    return id;
  }
  static TaskId id_of(const TaskPtr& task) { return task ? task->id : nullptr; }
  static std::vector<TaskId> reserved(const Worker& worker) {
    std::vector<TaskId> ids;
    for (const auto& slot : worker.station.slots()) ids.push_back(slot.task->id);
    return ids;
  }

  double task_flops = 0;  ///< of the tasks that are submitted
  FakeBackend backend;
  State state{Options{}, 16, backend};

 private:
  std::uintptr_t tasks_ = 0;
};

}  // namespace tessera::scheduler
