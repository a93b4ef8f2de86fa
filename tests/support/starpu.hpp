// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tessera/sched.h>

/// StarPU as programs without Tessera use it.
namespace tessera::test {

/// Runs StarPU during its lifetime. Uses GPUs only in tests that need them.
class Starpu {
 public:
  /// @param policy  null: `eager`
  explicit Starpu(int cpus = 2, starpu_sched_policy* policy = tessera_sched_policy()) {
    const char* gpus = std::getenv("TESSERA_TEST_NEEDS_GPUS");
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = cpus;
    conf.ncuda = gpus != nullptr ? std::atoi(gpus) : 0;
    conf.catch_signals = 0;
    conf.sched_policy = policy;
    if (policy == nullptr) conf.sched_policy_name = "eager";
    if (starpu_init(&conf) != 0) throw std::runtime_error("StarPU does not start");
  }
  ~Starpu() {
    starpu_task_wait_for_all();
    starpu_shutdown();
  }
  Starpu(const Starpu&) = delete;
  Starpu& operator=(const Starpu&) = delete;
};

/// The interface to register an m×n tile, with leading dimension `ld`, at the start of `memory`.
inline starpu_matrix_interface tile_at(std::vector<double>& memory, int m, int n, int ld) {
  starpu_matrix_interface tile{};
  tile.id = STARPU_MATRIX_INTERFACE_ID;
  tile.ptr = tile.dev_handle = reinterpret_cast<std::uintptr_t>(memory.data());
  tile.nx = static_cast<std::uint32_t>(m), tile.ny = static_cast<std::uint32_t>(n);
  tile.ld = static_cast<std::uint32_t>(ld), tile.elemsize = sizeof(double);
  tile.allocsize = static_cast<std::size_t>(m) * static_cast<std::size_t>(n) * sizeof(double);
  return tile;
}

/// StarPU's ids of the CPU workers.
inline std::vector<int> cpus_of_starpu() {
  std::vector<int> workers(starpu_cpu_worker_get_count());
  starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, workers.data(), static_cast<unsigned>(workers.size()));
  return workers;
}

/// A CPU worker that computes in a memory node.
inline int cpu_at(unsigned node) {
  for (const int worker : cpus_of_starpu())
    if (starpu_worker_get_memory_node(static_cast<unsigned>(worker)) == node) return worker;
  throw std::runtime_error("no worker is at memory node " + std::to_string(node));
}

inline tessera_sched_counts counts(unsigned context = 0) {
  tessera_sched_counts counts{};
  EXPECT_EQ(tessera_sched_statistics(context, &counts), 0);
  return counts;
}

/// The function that a task runs.
using Work = std::function<void(void* buffers[])>;

/// A codelet for CPU workers and any number of tiles. The work is freed when the task is done.
inline starpu_codelet* work_codelet() {
  static starpu_codelet codelet = [] {
    starpu_codelet c{};
    c.cpu_funcs[0] = [](void* buffers[], void* work) { (*static_cast<Work*>(work))(buffers); };
    c.nbuffers = STARPU_VARIABLE_NBUFFERS;
    c.name = "work";
    return c;
  }();
  return &codelet;
}

using Access = std::pair<starpu_data_handle_t, starpu_data_access_mode>;

inline starpu_task* task_of(Work work, std::initializer_list<Access> tiles = {}) {
  auto* task = starpu_task_create();
  task->cl = work_codelet();
  task->cl_arg = new Work(std::move(work));
  task->callback_func = [](void* done) { delete static_cast<Work*>(done); };
  task->callback_arg = task->cl_arg;
  task->nbuffers = static_cast<int>(tiles.size());
  int i = 0;
  for (const auto& [tile, mode] : tiles) task->handles[i] = tile, task->modes[i++] = mode;
  return task;
}

/// Restricts a task to one worker by a list of workers. With `execute_on_a_specific_worker`, StarPU would not ask the
/// policy.
inline starpu_task* only_on(int worker, starpu_task* task) {
  using List = std::array<std::uint32_t, (STARPU_NMAXWORKERS + 31) / 32>;
  static std::array<List, STARPU_NMAXWORKERS> lists{};  // they must outlive their tasks
  auto& list = lists[static_cast<std::size_t>(worker)];
  list[static_cast<std::size_t>(worker) / 32] = std::uint32_t{1} << (worker % 32);
  task->workerids = list.data();
  task->workerids_len = static_cast<unsigned>(list.size());
  return task;
}

inline void submit(starpu_task* task) { ASSERT_EQ(starpu_task_submit(task), 0); }

/// A vector of numbers registered with StarPU.
class Numbers {
 public:
  explicit Numbers(std::size_t count = 16) : numbers_(count) {
    starpu_vector_data_register(&handle_, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(numbers_.data()),
                                static_cast<std::uint32_t>(count), sizeof(std::uint64_t));
  }
  ~Numbers() { starpu_data_unregister(handle_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  starpu_data_handle_t handle() const { return handle_; }

  /// Waits for the tasks submitted so far and expects that all numbers are equal. Returns that number.
  std::uint64_t value() {
    starpu_data_acquire(handle_, STARPU_R);
    const auto first = numbers_.front();
    for (const auto number : numbers_) EXPECT_EQ(number, first);
    starpu_data_release(handle_);
    return first;
  }

 private:
  std::vector<std::uint64_t> numbers_;
  starpu_data_handle_t handle_ = nullptr;
};

/// The number after a task of a chain: the final one depends on the order of the tasks.
constexpr std::uint64_t appended(std::uint64_t before, std::uint64_t term) { return 31 * before + term; }

inline void append(void* buffer, std::uint64_t term) {
  auto* numbers = reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffer));
  for (std::size_t i = 0; i < STARPU_VECTOR_GET_NX(buffer); i++) numbers[i] = appended(numbers[i], term);
}

/// A task that calls `also`, then appends to `chain`.
inline starpu_task* link_of(
    const Numbers& chain, std::uint64_t term, std::function<void()> also = [] {}) {
  return task_of(
      [term, also = std::move(also)](void* buffers[]) {
        also();
        append(buffers[0], term);
      },
      {{chain.handle(), STARPU_RW}});
}

/// Gives idle workers time to look for work.
inline void take_a_while() { usleep(1000); }

}  // namespace tessera::test
