// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <sched.h>
#include <starpu.h>
#include <starpu_scheduler.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>

#include <tessera/sched.h>
#include <tessera/error.hpp>

#include "all_tasks.hpp"
#include "chosen_gpus.hpp"
#include "codelets/codelet.hpp"
#include "common/address_space.hpp"
#include "common/environment.hpp"
#include "common/kept_errno.hpp"
#include "common/no_signals.hpp"
#include "common/starpu_variables.hpp"
#include "common/thread_supply.hpp"
#include "common/variables.hpp"
#include "cores_beside_gpus.hpp"
#include "counters.hpp"
#include "devices/cpu/copying_threads.hpp"
#include "devices/cpu/host_library.hpp"
#include "devices/gpu_workers.hpp"
#include "devices/opencl/opencl.hpp"
#include "devices/prepared_devices.hpp"
#include "devices/tile_interface.hpp"
#include "machine/machine_rates.hpp"
#include "machine/starpu_folder.hpp"
#include "policy_names.hpp"
#include "progress/display.hpp"
#include "recording.hpp"
#include "running_calls.hpp"
#include "session_resources.hpp"
#include "start_options.hpp"

namespace tessera::detail {

using common::StarpuVariables;
using runtime::our_policy;

namespace {

/// The number of threads that StarPU starts, plus those that copy between GPUs and pageable memory.
/// @param conf  contains the numbers of workers; -1 CPU workers means one per core
Index threads_of(const starpu_conf& conf) {
  const auto of_gpus = [](int gpus) -> Index {
    return gpus > 0 ? gpus + static_cast<Index>(device::most_copying_threads(static_cast<std::size_t>(gpus))) : 0;
  };
  const Index workers = conf.ncpus >= 0 ? conf.ncpus : std::thread::hardware_concurrency();
  return std::min<Index>(workers, STARPU_MAXCPUS) + of_gpus(conf.ncuda) + of_gpus(conf.nopencl);
}

/// Whether StarPU may bind threads to cores. Sandboxes may forbid that (seccomp, SystemCallFilter of systemd).
bool threads_can_be_bound() {
  if (!common::environment("STARPU_WORKERS_NOBIND").empty()) return true;  // the user has decided
  const common::KeptErrno kept;
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0 || sched_setaffinity(0, sizeof cores, &cores) == 0) return true;
  return errno != EPERM && errno != EACCES && errno != ENOSYS;
}

/// Whether there are contexts whose policy does not count their tasks.
bool has_other_policies() {
  for (unsigned context = 1; context < STARPU_NMAX_SCHED_CTXS; context++)
    if (starpu_sched_get_sched_policy_in_ctx(context) != nullptr && tessera_sched_statistics(context, nullptr) != 0)
      return true;
  return false;
}

}  // namespace

/// The parts of a session, in order of dependency.
struct Session::Parts {
  runtime::FairShares shares;
  runtime::CallGroup calls;
  /// Number of the program's own tasks that are known to have run.
  std::atomic<std::uint64_t> other_tasks_done = 0;
  std::vector<void (*)()> at_end;
  std::optional<machine::StarpuFolder> starpu_folder;  ///< empty: StarPU was started by the program
  std::optional<runtime::Recording> recording;
  std::optional<runtime::ShownProgress> progress;
  std::optional<runtime::RunningStarpu> starpu;
  std::optional<device::PreparedDevices> devices;
};

Session::Session(const RuntimeOptions& given)
    : parts_(std::make_unique<Parts>()), joined_(starpu_is_initialized() != 0) {
  const common::NoSignals in_our_threads;  // threads of StarPU and of drivers, and threads that copy
  device::cpu::require_library();
  const device::gpu::KeepCurrentDevice keep;
  const auto options = runtime::with_environment(given);
  if (const auto edges = common::text_of(common::variables::tile_edges); !edges.empty())
    machine_.even_edges = edges == "even";
#ifndef STARPU_SIMGRID
  // First, because it may throw, and nothing has started yet. Not in simulated time.
  if (options.progress.value_or(false)) parts_->progress.emplace();
#endif
  if (joined_) {
    if (!options.trace.empty())
      throw common::option_error("trace",
                                 "is '" + options.trace +
                                     "', but the program has started StarPU itself, which records from its "
                                     "start or not at all: set STARPU_FXT_TRACE=1 and STARPU_FXT_PREFIX instead");
    parts_->starpu.emplace(nullptr);
    machine_.placement = options.placement;
    machine_.tile = options.tile;  // the program decides everything else
  } else {
    start(options);
  }
  look_at_workers();
  machine::measure_gpu_rates(machine_);  // before any call can use the GPUs
  parts_->devices.emplace(static_cast<std::size_t>(options.pinned_memory) << 20);
  machine_.posts_copies = device::tile_interface::posts_copies();
  // Nothing is measured in the program's own StarPU: if the program has paused it, the tasks would never run.
  machine::measure_operations(machine_, !joined_);
  if (machine_.placement == Placement::Automatic) machine_.placement = Placement::Home;
  if (machine_.placement == Placement::Home && policy_ != our_policy)
    machine_.placement = Placement::Owner;  // other policies do not support homes
  if (machine_.gpu_count() == 0) machine_.placement = Placement::Scheduler;
  // Cores share only calls on host memory, so these copies are made before the sharing cores are known. The one for
  // pageable memory gets them below.
  for (int operands = machine::on_their_owners; operands < machine_.gpu_count(); operands++)
    elsewhere_.emplace_back(machine_).operands = operands;
  find_sharing_cores();
  elsewhere_[machine::in_pageable_memory - machine::on_their_owners].sharing_cores = machine_.sharing_cores;
  if (machine::planning().set_costs != nullptr) machine::planning().set_costs(machine_);
  if (!joined_) runtime::reset_counters();
  if (parts_->recording) parts_->recording->begin(machine_, policy_);
}

void Session::start(const RuntimeOptions& options) {
  machine_.placement = options.placement;
  machine_.tile = options.tile;
  auto probe = runtime::find_gpus(options);
  unused_ = std::move(probe.unusable);
  machine_.gpu_info = std::move(probe.usable);
  runtime::require_devices(options, std::ssize(machine_.gpu_info), unused_.empty() ? "" : unused_.front());
  policy_ = !options.policy.empty() ? options.policy : our_policy;
  runtime::require_policy(policy_);
  runtime::require_placement(machine_.placement, policy_);
  if (machine_.placement == Placement::Automatic && policy_ != our_policy) machine_.placement = Placement::Scheduler;

  StarpuVariables variables;
  variables.hide("STARPU_SCHED");  // hides the user's value, which StarPU would otherwise use
  if (!options.trace.empty()) {    // first, because it refuses a value with which StarPU would end the process
    parts_->recording.emplace(options.trace);
    parts_->recording->announce_in(variables);
  }
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.catch_signals = 0;
  // Room for 100,000 tasks. All workers wait while a full buffer is written. The buffer's memory is used only as it
  // fills.
  if (!options.trace.empty() && common::environment("STARPU_TRACE_BUFFER_SIZE").empty())
    conf.trace_buffer_size = std::uint64_t{512} << 20;
  if (policy_ == our_policy) conf.sched_policy = tessera_sched_policy(), conf.sched_policy_name = nullptr;
  else conf.sched_policy_name = policy_.c_str();
  if (const int cpus = cpu_workers(options); cpus >= 0) conf.ncpus = cpus;
  conf.ncuda = conf.nopencl = 0;
  std::vector<device::gpu::Info> opencl_devices;
  for (const auto& gpu : machine_.gpu_info) {
    auto& number = gpu.opencl ? conf.workers_opencl_gpuid[conf.nopencl++] : conf.workers_cuda_gpuid[conf.ncuda++];
    number = static_cast<unsigned>(gpu.ordinal);
    if (gpu.opencl) opencl_devices.push_back(gpu);
  }
  if (conf.ncuda > 0) conf.use_explicit_workers_cuda_gpuid = 1;
  if (conf.nopencl > 0) conf.use_explicit_workers_opencl_gpuid = 1;
  common::require_threads(threads_of(conf));
#ifndef STARPU_SIMGRID  // computes nothing
  const int most = conf.ncpus >= 0 ? conf.ncpus : static_cast<int>(std::thread::hardware_concurrency()),
            workers = std::min<int>(most, STARPU_MAXCPUS);
  if (const int fit = common::workers_that_fit(workers, options.cpus >= 0); fit < workers) conf.ncpus = fit;
#endif
  // StarPU must list the same devices as Tessera.
  if (device::opencl::counts_processors()) variables.set("STARPU_OPENCL_ON_CPUS", "1", StarpuVariables::IfSet::Replace);
  variables.set("STARPU_SILENT", "1");
  if (!threads_can_be_bound())  // StarPU would end the process
    variables.set("STARPU_WORKERS_NOBIND", "1", StarpuVariables::IfSet::Replace);
  // Uses the total memory. Free memory may change from run to run; tile sizes must not, because the bits of results
  // depend on them.
  const auto limited = [&](const auto& gpu) { return runtime::is_limited(options.gpu_memory, gpu.opencl); };
  if (!machine_.gpu_info.empty() && std::ranges::none_of(machine_.gpu_info, limited))
    machine_.gpu_memory =
        runtime::share_of_memory *
        static_cast<double>(std::ranges::min_element(machine_.gpu_info, {}, &device::gpu::Info::memory)->memory);
  runtime::limit_memory(machine_.gpu_info, options.gpu_memory, variables);
  parts_->starpu_folder.emplace(machine_.gpu_info);
  parts_->starpu_folder->announce_in(variables);
  {
    const StarpuVariables::InForce until_started(variables);
    if (parts_->recording) runtime::Recording::choose_events();
    parts_->starpu.emplace(&conf);
  }
  if (conf.ncuda > 0 && static_cast<int>(starpu_opencl_worker_get_count()) < conf.nopencl)
    throw RuntimeError(runtime::starpu_leaves_out_opencl);
  for (const auto& gpu : opencl_devices) device::opencl::require_same_device(gpu.ordinal);
}

/// The number of CPU workers to start; -1: StarPU decides.
int Session::cpu_workers(const RuntimeOptions& options) {
  const bool gpus_own = !machine_.gpu_info.empty() && machine_.placement != Placement::Scheduler;
  if (!gpus_own) {
    if (options.cpus >= 0) return options.cpus;
    return options.cpus_without_gpus >= 0 ? options.cpus_without_gpus : machine::granted_cores();
  }
  const auto cores = runtime::cores_beside_gpus(machine_, options);
  cores_ = cores.reason;
  return policy_ == our_policy || options.cpus >= 0 ? cores.workers : 1;
}

/// Finds the CPU workers that may compute tiles alongside the GPUs. If there is only one CPU worker, it is reserved for
/// the program's own tasks.
void Session::find_sharing_cores() {
  if (joined_ || policy_ != our_policy || !machine_.has_owners() || machine_.cpu_workers < 2) return;
#ifndef STARPU_SIMGRID
  if (!machine_.kinds_alike) return;  // only the first GPU of each kind is measured
#endif
  machine_.sharing_cores.resize(static_cast<std::size_t>(machine_.cpu_workers));
  starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, machine_.sharing_cores.data(),
                                static_cast<unsigned>(machine_.cpu_workers));
}

/// Adds the GPUs that these workers drive to the machine.
void Session::add_gpus(const std::vector<int>& workers) {
  const auto first = machine_.gpus.size();
  for (const int worker : workers) {
    const int device = starpu_worker_get_devid(worker);
    if (machine_.gpus.size() == first || machine_.gpus.back() != device) {
      machine_.gpus.push_back(device);
      machine_.gpu_workers.emplace_back();
    }
    machine_.gpu_workers.back().push_back(worker);
  }
}

void Session::number_first_workers() {
  constexpr int bits = 32;
  std::vector<std::uint32_t> workers(starpu_worker_get_count() / bits + 1);
  const auto add = [&](int worker) { workers[static_cast<std::size_t>(worker / bits)] |= 1U << worker % bits; };
  for (unsigned worker = 0; worker < starpu_worker_get_count(); worker++)
    if (starpu_worker_get_type(static_cast<int>(worker)) == STARPU_CPU_WORKER) add(static_cast<int>(worker));
  for (const auto& of_gpu : machine_.gpu_workers) {
    std::ranges::for_each(of_gpu, add);
    machine_.first_workers.push_back(workers);
  }
}

void Session::look_at_workers() {
  machine_.cpu_workers = static_cast<int>(starpu_cpu_worker_get_count());
  device::gpu_workers::opencl_beside_cuda = !joined_;
  add_gpus(device::gpu_workers::of(STARPU_CUDA_WORKER));
  machine_.cuda_gpus = machine_.gpu_count();
  add_gpus(device::gpu_workers::of(STARPU_OPENCL_WORKER));
  number_first_workers();
  machine_.has_core_for_waiting =
      machine_.gpu_count() > 0 && std::thread::hardware_concurrency() > starpu_worker_get_count();
  double smallest = 0;
  for (const auto& workers : machine_.gpu_workers) {
    const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(workers.front()));
    const double memory = std::max(0.0, static_cast<double>(starpu_memory_get_total(node)));
    smallest = smallest == 0 ? memory : std::min(smallest, memory);
  }
  if (machine_.gpu_memory == 0 || smallest < machine_.gpu_memory / 2)
    machine_.gpu_memory = smallest;  // otherwise tiles might not fit on all GPUs
  std::vector<std::string> names;
  for (const auto& gpu : machine_.gpu_info) names.push_back(gpu.name);
  if (names.empty() && machine_.gpu_count() > 1 && machine_.has_cuda()) {
    const auto visible = device::gpu::visible_devices();
    for (const int gpu : machine_.gpus) names.push_back(visible[static_cast<std::size_t>(gpu)]);
  }
  const auto alike = [](std::span<const std::string> some) {
    return std::ranges::adjacent_find(some, std::ranges::not_equal_to()) == some.end();
  };
  const auto of_cuda = std::min<std::size_t>(static_cast<std::size_t>(machine_.cuda_gpus), names.size());
  machine_.gpus_alike = alike(names);
  machine_.kinds_alike = alike(std::span(names).first(of_cuda)) && alike(std::span(names).subspan(of_cuda));
  if (const auto* policy = starpu_sched_get_sched_policy(); policy != nullptr) policy_ = policy->policy_name;
  counts_other_tasks_ = policy_ == our_policy;
  if (!joined_) parts_->other_tasks_done = tessera_sched_other_tasks();  // includes tasks of an earlier StarPU
}

void Session::wait_for_everything() {
  parts_->calls.unfinished().wait();
  const auto others = tessera_sched_other_tasks();
  if (counts_other_tasks_ && others == parts_->other_tasks_done && !has_other_policies()) return;
  runtime::wait_for_all_tasks();
  parts_->other_tasks_done = others;
}

runtime::Recording* Session::recording() noexcept { return parts_->recording ? &*parts_->recording : nullptr; }

runtime::CallGroup& Session::calls() const noexcept { return parts_->calls; }

runtime::FairShares& Session::shares() const noexcept { return parts_->shares; }

void Session::at_end(void (*release)()) { parts_->at_end.push_back(release); }

Session::~Session() {
  wait_for_everything();
  for (auto* const release : parts_->at_end) release();
  parts_->progress.reset();
  parts_->devices.reset();
  if (parts_->recording) parts_->recording->end();
  parts_->starpu.reset();
  if (parts_->recording) parts_->recording->close();
}

}  // namespace tessera::detail
