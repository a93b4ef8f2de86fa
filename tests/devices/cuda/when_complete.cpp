// SPDX-License-Identifier: BSD-3-Clause
// Functions that a worker calls when the GPU has completed a task, and the reports that they read.
#include <cuda_runtime.h>
#include <starpu.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "codelets/kernel.hpp"
#include "support/runtime.hpp"

namespace tessera::test::when_complete_cpp {
namespace {

const auto* const runtime = share_runtime();

constexpr int tasks = 40;  // more than a worker has reports

struct Seen {
  std::array<int, tasks> info{}, others{};
  std::array<int, tasks> functions_before{};  ///< that had been called when a task started
  int functions = 0;
};

struct Argument {
  Seen* seen;
  int i;
};

/// Writes i + 1 to a report of the task, after a while.
void write_report(void* /*buffers*/[], void* argument) {
  const auto [seen, i] = *static_cast<const Argument*>(argument);
  auto& report = device::cuda::new_report();
  EXPECT_EQ(report.info, 0);
  struct Write {
    int* to;
    int value;
  };
  seen->functions_before[static_cast<std::size_t>(i)] = seen->functions;
  const auto write = [](void* it) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::unique_ptr<const Write> own(static_cast<Write*>(it));
    *own->to = own->value;
  };
  EXPECT_EQ(cudaLaunchHostFunc(device::cuda::local_stream(), write, new Write{&report.info, i + 1}), cudaSuccess);
  device::when_complete([seen, i, &report] {
    EXPECT_EQ(seen->others[static_cast<std::size_t>(i)], 0) << "the other epilogue comes later";
    seen->info[static_cast<std::size_t>(i)] = report.info;
    seen->functions++;
  });
}

void note(void* argument) {
  const auto [seen, i] = *static_cast<const Argument*>(argument);
  seen->others[static_cast<std::size_t>(i)]++;
}

/// Runs tasks on the first GPU.
/// @param chained  each task waits for the one before
Seen run(bool chained) {
  Seen seen;
  std::array<Argument, tasks> arguments{};
  starpu_codelet codelet{};
  codelet.cuda_funcs[0] = write_report;
  codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
  codelet.nbuffers = chained ? 1 : 0;
  codelet.modes[0] = STARPU_RW;
  std::uint64_t variable = 0;
  starpu_data_handle_t handle = nullptr;
  starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&variable), sizeof variable);
  for (int i = 0; i < tasks; i++) {
    auto& argument = arguments[static_cast<std::size_t>(i)] = {&seen, i};
    auto* const task = starpu_task_create();
    task->cl = &codelet;
    task->handles[0] = handle;
    task->cl_arg = &argument, task->cl_arg_size = sizeof argument;
    task->epilogue_callback_func = note, task->epilogue_callback_arg = &argument;
    task->execute_on_a_specific_worker = 1;
    task->workerid = static_cast<unsigned>(starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0));
    EXPECT_EQ(starpu_task_submit(task), 0);
  }
  starpu_task_wait_for_all();
  starpu_data_unregister(handle);
  return seen;
}

void expect_all(const Seen& seen) {
  for (std::size_t i = 0; i < tasks; i++) {
    EXPECT_EQ(seen.info[i], i + 1);
    EXPECT_EQ(seen.others[i], 1);
  }
  EXPECT_EQ(seen.functions, tasks);
}

TEST(WhenComplete, EachTaskHasItsOwnReport) { expect_all(run(false)); }

TEST(WhenComplete, BeforeDependentTasks) {
  const auto seen = run(true);
  expect_all(seen);
  for (std::size_t i = 0; i < tasks; i++) EXPECT_EQ(seen.functions_before[i], i);
}

}  // namespace
}  // namespace tessera::test::when_complete_cpp
