// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>
#include <starpu_scheduler.h>

#include <vector>

#include "common/not_copyable.hpp"
#include "devices/simulated/machine_description.hpp"
#include "simulate/outcome.hpp"

/// Observation of StarPU in a simulating process.
namespace tessera::simulate {

/// Sums the task times of each GPU and counts the tasks of all cores, by wrapping the scheduling policy's hook for
/// finished tasks.
class TaskWatch : common::NotCopyable {
 public:
  explicit TaskWatch(int gpus) {
    core_tasks_ = 0;
    uses.assign(static_cast<std::size_t>(gpus), {});
    begin = starpu_timing_now();
    auto* policy = starpu_sched_get_sched_policy();
    next = policy->post_exec_hook;
    policy->post_exec_hook = ended;
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  }
  ~TaskWatch() {
    starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
    starpu_sched_get_sched_policy()->post_exec_hook = next;
  }

  static std::vector<GpuUse> result() { return uses; }
  static Index core_tasks() { return core_tasks_; }

 private:
  static void ended(starpu_task* task, unsigned context) {
    const auto* info = task->profiling_info;
    if (info != nullptr && starpu_worker_get_type(info->workerid) == STARPU_CPU_WORKER) core_tasks_++;
    if (info != nullptr && starpu_worker_get_type(info->workerid) == STARPU_CUDA_WORKER) {
      auto& use = uses[static_cast<std::size_t>(starpu_worker_get_devid(info->workerid))];
      use.tasks++;
      auto end = info->end_time;
      // Uses the simulated time of the kernel: if tasks are queued, StarPU's start-to-end time includes waiting for
      // memory.
      if (const auto* model = task->cl->model; model != nullptr && model->worker_cost_function != nullptr)
        use.busy += 1e-6 * model->worker_cost_function(task, static_cast<unsigned>(info->workerid), 0);
      use.last_end = 1e-6 * (starpu_timing_timespec_to_us(&end) - begin);
    }
    if (next != nullptr) next(task, context);
  }

  static inline std::vector<GpuUse> uses;
  static inline Index core_tasks_ = 0;
  static inline double begin = 0;  ///< µs
  static inline void (*next)(starpu_task*, unsigned) = nullptr;
};

/// Tells StarPU which peer links are NVLink. On a real machine, StarPU asks NVML. It does not divide an NVLink among
/// the GPUs, and this affects whether it copies from a peer or from the host.
inline void tell_of_nvlink(const device::simulated::Machine& machine) {
  const auto gpu_at = [](int node) {
    const auto n = static_cast<unsigned>(node);
    return starpu_node_get_kind(n) == STARPU_CUDA_RAM ? starpu_memory_node_get_devid(n) : -1;
  };
  for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
    const int from = gpu_at(starpu_bus_get_src(bus)), to = gpu_at(starpu_bus_get_dst(bus));
    if (from >= 0 && to >= 0 && machine.peer(from, to).way == device::simulated::PeerLink::Way::NvLink)
      starpu_bus_set_ngpus(bus, 1);
  }
}

}  // namespace tessera::simulate
