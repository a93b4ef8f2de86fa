// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <pthread.h>
#include <starpu.h>
#include <starpu_scheduler.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include <tessera/sched.h>
#include <tessera/error.hpp>

#include "codelets/codelet.hpp"
#include "common/environment.hpp"
#include "exit_gate.hpp"
#include "machine/machine_rates.hpp"
#include "options.hpp"
#include "policy_names.hpp"
#include "submitted.hpp"
#include "thread_supply.hpp"

namespace tessera::detail {

namespace {

constexpr const char* starpu_limit = "STARPU_LIMIT_CUDA_MEM";
/// Of a GPU's memory, what is used unless somebody says otherwise.
constexpr double share_of_memory = 0.9;

bool is_limited(Index memory) { return memory > 0 || std::getenv(starpu_limit) != nullptr; }

/// StarPU takes the memory that it may use on each GPU from nowhere else.
/// @param memory  [MiB]; 0: most of what is free, if the user has not told StarPU
std::vector<TemporaryVariable> limit_memory(const std::vector<gpu::Info>& gpus, Index memory) {
  constexpr double mebibyte = 1 << 20;
  std::vector<TemporaryVariable> limits;
  for (const auto& gpu : gpus) {
    if (static_cast<double>(memory) * mebibyte > static_cast<double>(gpu.memory))
      throw ArgumentError("Runtime", 8, "gpu_memory",
                          "is " + std::to_string(memory) + " MiB, but GPU " + std::to_string(gpu.ordinal) + " has " +
                              std::to_string(gpu.memory >> 20));
    if (is_limited(memory)) continue;
    const auto most = static_cast<Index>(share_of_memory * static_cast<double>(gpu.free) / mebibyte);
    limits.emplace_back("STARPU_LIMIT_CUDA_" + std::to_string(gpu.ordinal) + "_MEM",
                        std::to_string(std::max<Index>(1, most)));  // 0 would be no limit
  }
  if (memory > 0) limits.emplace_back(starpu_limit, std::to_string(memory), TemporaryVariable::IfSet::Replace);
  return limits;
}

/// Threads that StarPU and the copies between GPUs and pageable memory take.
/// @param cpus  CPU workers; -1: as many as there are cores
Index threads_of(int cpus, Index gpus) {
  constexpr Index copying = 12;
  const Index workers = cpus >= 0 ? cpus : std::thread::hardware_concurrency();
  return std::min<Index>(workers, STARPU_MAXCPUS) + (gpus > 0 ? gpus + copying : 0);
}

}  // namespace

Session::Session(const RuntimeOptions& given) : joined_(starpu_is_initialized() != 0) {
  const gpu::KeepCurrentDevice keep;
#ifndef STARPU_SIMGRID
  // First: if it throws, nothing has started. Not where time is simulated.
  if (with_environment(given).progress.value_or(false)) progress_.emplace();
#endif
  if (joined_) {
    const auto options = with_environment(given);  // first: it throws
    if (!options.trace.empty())
      throw ArgumentError("Runtime", 6, "trace",
                          "is '" + options.trace +
                              "', but the program has started StarPU itself, which records from its "
                              "start or not at all: set STARPU_FXT_TRACE=1 and STARPU_FXT_PREFIX instead");
    starpu_.emplace(nullptr);
    placement_ = options.placement;
    tile_ = options.tile;  // all else is the program's
  } else {
    start(with_environment(given));
  }
  look_at_workers();
  host_thread_.emplace();
  measure_gpu_rates(*this);  // now: no call of ours uses them yet
  devices_.emplace(static_cast<std::size_t>(with_environment(given).pinned_memory) << 20);
  if (placement_ == Placement::Automatic) placement_ = Placement::Home;
  if (placement_ == Placement::Home && policy_ != our_policy) placement_ = Placement::Owner;  // it knows no homes
  if (gpu_count() == 0) placement_ = Placement::Scheduler;
  codelets::set_cost_function(expected_seconds);
  if (!joined_) reset_counters();
  if (recording_) recording_->begin(*this);
}

void Session::start(const RuntimeOptions& options) {
  placement_ = options.placement;
  tile_ = options.tile;
  auto probe = options.gpus == 0 ? gpu::Probe{} : gpu::probe(options.gpus);
  unused_ = std::move(probe.unusable);
  gpu_info_ = std::move(probe.usable);
  if (options.gpus > std::ssize(gpu_info_)) {
    const std::string why = unused_.empty() ? "" : " (" + unused_.front() + ")";
    throw ArgumentError("Runtime", 2, "gpus",
                        "is " + std::to_string(options.gpus) + ", but this machine has " +
                            std::to_string(gpu_info_.size()) + " that can be used" + why);
  }
  if (options.cpus == 0 && gpu_info_.empty())
    throw ArgumentError("Runtime", 1, "cpus", "is 0 and there is no GPU: nothing could compute");

  policy_ = !options.policy.empty() ? options.policy : our_policy;
  require_policy(policy_);
  if (placement_ == Placement::Home && policy_ != our_policy)
    throw ArgumentError("Runtime", 4, "placement", "is home, which only the policy tessera knows, not " + policy_);
  if (placement_ == Placement::Automatic && policy_ != our_policy) placement_ = Placement::Scheduler;

  if (!options.trace.empty()) recording_.emplace(options.trace);  // first: StarPU's defaults are from the environment
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.catch_signals = 0;
  const auto chosen = TemporaryVariable::absent("STARPU_SCHED");  // StarPU would take that one instead
  if (policy_ == our_policy) conf.sched_policy = tessera_sched_policy(), conf.sched_policy_name = nullptr;
  else conf.sched_policy_name = policy_.c_str();
  // CPU workers that find no tile to compute keep asking for one, and slow down those that drive the GPUs: 5 to 35 %
  // with 60 of them beside four H200. One is left for the program's own tasks.
  const bool gpus_only = !gpu_info_.empty() && placement_ != Placement::Scheduler;
  if (options.cpus >= 0 || gpus_only) conf.ncpus = options.cpus >= 0 ? options.cpus : 1;
  require_threads(threads_of(conf.ncpus, std::ssize(gpu_info_)));
  conf.ncuda = static_cast<int>(gpu_info_.size());
  conf.nopencl = 0;
  if (!gpu_info_.empty()) {
    conf.use_explicit_workers_cuda_gpuid = 1;
    for (std::size_t i = 0; i < gpu_info_.size(); i++)
      conf.workers_cuda_gpuid[i] = static_cast<unsigned>(gpu_info_[i].ordinal);
  }
  const TemporaryVariable silent("STARPU_SILENT", "1");
  // What is free may change from one run to the next, and tiles, and so the bits of results, should not.
  if (!gpu_info_.empty() && !is_limited(options.gpu_memory))
    gpu_memory_ =
        share_of_memory * static_cast<double>(std::ranges::min_element(gpu_info_, {}, &gpu::Info::memory)->memory);
  const auto limits = limit_memory(gpu_info_, options.gpu_memory);
  starpu_folder_.emplace();
  const auto folder = starpu_folder_->announce();
  starpu_.emplace(&conf);
}

void Session::look_at_workers() {
  cpu_workers_ = static_cast<int>(starpu_cpu_worker_get_count());
  std::vector<int> workers(starpu_cuda_worker_get_count());
  starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, workers.data(), static_cast<unsigned>(workers.size()));
  for (const int worker : workers) {
    const int device = starpu_worker_get_devid(worker);
    if (gpus_.empty() || gpus_.back() != device) {
      gpus_.push_back(device);
      gpu_workers_.emplace_back();
    }
    gpu_workers_.back().push_back(worker);
  }
  double smallest = 0;
  for (const int worker : workers) {
    const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(worker));
    const double memory = std::max(0.0, static_cast<double>(starpu_memory_get_total(node)));
    smallest = smallest == 0 ? memory : std::min(smallest, memory);
  }
  if (gpu_memory_ == 0 || smallest < gpu_memory_ / 2) gpu_memory_ = smallest;  // or tiles might not fit at all
  std::vector<std::string> names;
  for (const auto& gpu : gpu_info_) names.push_back(gpu.name);
  if (names.empty() && gpu_count() > 1) {
    const auto visible = gpu::visible_devices();
    for (const int gpu : gpus_) names.push_back(visible[static_cast<std::size_t>(gpu)]);
  }
  gpus_alike_ = std::ranges::adjacent_find(names, std::ranges::not_equal_to()) == names.end();
  if (const auto* policy = starpu_sched_get_sched_policy(); policy != nullptr) policy_ = policy->policy_name;
  counts_other_tasks_ = policy_ == our_policy;
  if (!joined_) other_tasks_done_ = tessera_sched_other_tasks();  // of an earlier StarPU
}

void Session::wait_for_everything() {
  calls_.unfinished().wait();
  // StarPU counts all tasks together, and would wait for those that others submit meanwhile.
  const auto others = tessera_sched_other_tasks();
  if (counts_other_tasks_ && others == other_tasks_done_) return;
  starpu_task_wait_for_all();
  other_tasks_done_ = others;
}

Session::~Session() {
  wait_for_everything();
  progress_.reset();
  host_thread_.reset();
  devices_.reset();
  if (recording_) recording_->end();
  starpu_.reset();
  if (recording_) recording_->close();
}

namespace {

// Never destroyed: other threads may use them while the process exits.
auto& mutex = *new std::mutex;
auto& gone = *new std::condition_variable;
bool alive = false;                                // from the start until after the destructor; guarded by mutex
auto& running = *new std::weak_ptr<Session>;       // guarded by mutex
auto& until_exit = *new std::shared_ptr<Session>;  // guarded by mutex
std::atomic<bool> in_use = false;                  // StarPU starts, runs or stops
std::atomic<bool> forked = false;

/// In a forked child, which has none of the other threads. They may have held the locks.
void begin_as_child() {
  if (in_use) forked = true;
  new (&mutex) std::mutex;
  new (&gone) std::condition_variable;
}

/// A session, and what is to be done when it has gone. A forked child keeps what it has inherited until it ends.
struct KeptSession {
  struct End {
    bool expected = false;
    End() { in_use = true; }
    ~End() {
      in_use = false;
      if (!expected) return;  // the session has not started: whoever tried to start it holds the mutex
      {
        const std::lock_guard guard(mutex);
        alive = false;
      }
      gone.notify_all();
    }
  };
  struct UnlessForked {
    void operator()(Session* session) const {
      if (!forked) delete session;
    }
  };
  End end;  // after the session
  std::unique_ptr<Session, UnlessForked> session;
  explicit KeptSession(const RuntimeOptions& options) : session(new Session(options)) {}
};

/// At the exit of the process: nothing may run on StarPU, CUDA and the BLAS any more, which end next, neither calls of
/// other threads, nor tasks on matrices that nobody has destroyed. A session that is still held then never ends.
void end_of_process() {
  if (forked || starpu_worker_get_id() >= 0) return;
  exit_gate::close();
  std::unique_lock lock(mutex);
  gone.wait(lock, [] { return !alive || !running.expired(); });
  const auto left = running.lock();
  std::shared_ptr<Session> last;
  last.swap(until_exit);
  lock.unlock();
  if (last != nullptr) last->wait_for_everything();
  else if (left != nullptr) left->calls().unfinished().wait();
}

/// Once more when the library ends, for calls of other exit handlers.
struct LastGuard {
  ~LastGuard() { end_of_process(); }
} last_guard;

void require_not_forked(const char* what) {
  if (forked)
    throw RuntimeError(std::string(what) +
                       ": this process was forked from one in which Tessera ran: StarPU has no threads here");
}

/// A new session, once the last one has shut StarPU down: it would join one that is about to stop.
std::shared_ptr<Session> make_session(std::unique_lock<std::mutex>& lock, const RuntimeOptions& options) {
  require_can_wait("Runtime");
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, begin_as_child); });
  gone.wait(lock, [] { return !alive; });
  exit_gate::pass(&lock);
  const auto kept = std::make_shared<KeptSession>(options);
  kept->end.expected = alive = true;
  const std::shared_ptr<Session> fresh(kept, kept->session.get());
  running = fresh;
  // Registered after CUDA and StarPU have registered their handlers, since the last one runs first.
  static std::once_flag with_gpus, without_gpus;
  std::call_once(fresh->gpu_count() > 0 ? with_gpus : without_gpus, [] { std::atexit(end_of_process); });
  return fresh;
}

}  // namespace

bool in_forked_child() noexcept { return forked; }

void require_can_wait(const char* what) {
  require_not_forked(what);
  if (starpu_worker_get_id() >= 0)
    throw RuntimeError(std::string(what) + ": called from within a StarPU task or its callback");
}

std::shared_ptr<Session> session_to_wait(const char* what) {
  require_can_wait(what);
  return session();
}

std::shared_ptr<Session> session(const RuntimeOptions& options) {
  require_can_wait("Runtime");
  std::unique_lock lock(mutex);
  if (auto existing = running.lock()) {
    static_cast<void>(with_environment(options));  // not used, but not to be wrong either
    return existing;
  }
  return make_session(lock, options);
}

std::shared_ptr<Session> session() {
  require_not_forked("Tessera");
  std::unique_lock lock(mutex);
  if (auto existing = running.lock()) return existing;
  until_exit = make_session(lock, RuntimeOptions{});
  return until_exit;
}

}  // namespace tessera::detail
