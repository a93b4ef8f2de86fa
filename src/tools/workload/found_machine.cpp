// SPDX-License-Identifier: BSD-3-Clause
#include "workload/found_machine.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "devices/cpu/control_groups.hpp"
#include "devices/cpu/free_memory.hpp"
#include "devices/cpu/host_blas.hpp"
#include "runtime/chosen_gpus.hpp"
#include "runtime/start_options.hpp"

namespace tessera::bench {

namespace {

/// The processors that this process may use at a time, for example under taskset or in a container.
int usable_processors() {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t mine;
  const int some = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : all;
  const double share = std::ceil(device::ControlGroups::of_system().processors());
  return std::max(1, static_cast<int>(std::min<double>({1.0 * all, 1.0 * some, share})));
}

}  // namespace

std::vector<int> Machine::ordinals(int count, bool opencl) const {
  std::vector<int> result;
  for (int i = 0; i < count; i++)
    if (const auto& gpu = gpus.at(static_cast<std::size_t>(i)); gpu.opencl == opencl) result.push_back(gpu.ordinal);
  return result;
}

std::string Machine::names(int count) const {
  std::string text;
  for (auto gpu = gpus.begin(), end = gpu + count; gpu != end;) {
    const auto next = std::find_if(gpu, end, [&](const device::gpu::Info& other) { return other.name != gpu->name; });
    text += (text.empty() ? "" : " and ") + std::to_string(next - gpu) + " x " + gpu->name;
    gpu = next;
  }
  return text;
}

Machine look_at_machine(bool look_for_gpus) {
  Machine machine;
  machine.cores = usable_processors();
  machine.blas_threads = device::cpu::threads();
  machine.free_memory = device::free_memory();
  if (!look_for_gpus) return machine;
  RuntimeOptions all;
  all.opencl = runtime::with_environment({}).opencl;
  all.cuda = runtime::with_environment({}).cuda;
  auto probe = runtime::find_gpus(all);
  machine.gpus = std::move(probe.usable);
  if (!probe.unusable.empty()) machine.why_not_more_gpus = probe.unusable.front();
  return machine;
}

}  // namespace tessera::bench
