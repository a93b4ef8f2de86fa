// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include <tessera/sched.h>
#include <tessera/error.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "common/environment.hpp"
#include "common/of_type.hpp"
#include "common/thread_supply.hpp"
#include "common/variables.hpp"
#include "plan/plans.hpp"
#include "routines/compute.hpp"
#include "routines/operands.hpp"
#include "runtime/core_part.hpp"
#include "runtime/counters.hpp"
#include "runtime/process_session.hpp"
#include "runtime/ranks_of_node.hpp"
#include "runtime/run_json.hpp"
#include "runtime/session.hpp"
#include "runtime/start_options.hpp"
#include "tile/kept.hpp"

namespace tessera::dropin {

namespace {

thread_local bool ours = false;      ///< this thread submits tasks of a drop-in call
thread_local std::string objection;  ///< why this thread's last failed or declined call was not done

/// Lets StarPU's workers run during calls, and pauses them between calls, because idle workers poll and take cores away
/// from the program.
class Activity {
 public:
  /// @param pauses  whether to pause the workers between calls; false if the program also uses them
  void begin(bool pauses) {
    pauses_ = pauses;
    if (pauses_) starpu_pause(), paused_ = true;
  }

  void enter() {
    const std::lock_guard lock(mutex_);
    if (calls_++ == 0) resume();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--calls_ > 0) return;
    if (pauses_) starpu_pause(), paused_ = true;
  }

  /// Resumes the workers permanently. StarPU cannot shut down while they are paused.
  void end() {
    const std::lock_guard lock(mutex_);
    pauses_ = false;
    resume();
  }

  /// Called when any task is submitted. If the program submits its own tasks to the StarPU that the drop-in has
  /// started, the workers are never paused again. Tasks submitted by workers do not count, since they follow from other
  /// tasks.
  void submitted() {
    if (ours || !pauses_ || starpu_worker_get_id() >= 0) return;
    const std::lock_guard lock(mutex_);
    pauses_ = false;
    resume();
  }

 private:
  void resume() {
    if (paused_.exchange(false)) starpu_resume();
  }

  std::mutex mutex_;
  int calls_ = 0;  // guarded by mutex_
  std::atomic<bool> pauses_ = false;
  std::atomic<bool> paused_ = false;
};

/// The state of the devices. Never destroyed: in a forked child, StarPU has no threads and cannot shut down.
struct Started {
  std::unique_ptr<Runtime> runtime;
  std::shared_ptr<detail::Session> session;
  Activity activity;
  std::string devices, error, failure;
  std::mutex failing;
};
Started& started() {
  static auto& only = *new Started;
  return only;
}

/// An upper bound of the number of threads that a Runtime starts.
int thread_count(bool need_gpus) {
  const int cpus = runtime::with_environment({}).cpus;
  const int usual = need_gpus ? 1 : static_cast<int>(std::thread::hardware_concurrency());
  return (cpus >= 0 ? cpus : usual) + (need_gpus ? 16 : 2);
}

/// Whether the user binds StarPU's workers.
bool user_binds_workers() {
  constexpr const char* variables[] = {"STARPU_WORKERS_CPUID", "STARPU_WORKERS_COREID", "STARPU_WORKERS_NOBIND",
                                       "STARPU_WORKERS_GETBIND"};
  return std::ranges::any_of(variables, [](const char* name) { return !common::environment(name).empty(); });
}

/// Starts Tessera on this process's share of the node, if it is one of several processes of an MPI program.
std::unique_ptr<Runtime> start_on_share(const common::DeviceChoice& devices) {
  RuntimeOptions options;
  options.gpus = devices.gpus, options.cuda = devices.cuda, options.opencl = devices.opencl;
  const auto shared = runtime::shared_with_ranks_of_node();
  options.node_part = shared.gpus.part, options.node_parts = shared.gpus.parts;
  if (shared.cores.parts <= 1 || user_binds_workers() || starpu_is_initialized() != 0)
    return std::make_unique<Runtime>(options);
  // In a separate thread, because other processes of the node look at the affinity of the program's threads.
  return std::async(std::launch::async,
                    [&] {
                      const runtime::PartOfCores part(shared.cores.part, shared.cores.parts);
                      options.cpus_without_gpus = part.cores();
                      return std::make_unique<Runtime>(options);
                    })
      .get();
}

/// Keeps operands on the GPUs, if the user wants that. Says why not in the description of the devices.
void start_keeping(Started& started) {
  const auto text = common::text_of(common::variables::keep);
  if (text.empty() || text == "0") return;
  const auto mebibytes = common::as_number<double>(text);
  if (!mebibytes || !(*mebibytes >= 1)) common::refuse(common::variables::keep);
  const auto why_not = tile::kept::start_watching(*started.session, *mebibytes == 1 ? 0 : *mebibytes * 0x1p20);
  started.devices += why_not.empty() ? "; operands that do not change are kept" : "; TESSERA_KEEP is off: " + why_not;
}

const char* start(const common::DeviceChoice& devices, bool need_gpus) {
  auto& s = started();
  try {
    if (starpu_is_initialized() == 0) common::require_threads(thread_count(need_gpus));
    s.runtime = start_on_share(devices);
    s.session = runtime::session();
    if (need_gpus && s.session->machine().gpu_count() == 0)
      throw RuntimeError(s.session->unused_devices().empty() ? "the StarPU of this program uses no GPU"
                                                             : s.session->unused_devices().front());
    s.devices = runtime::machine_text(s.session->machine());
    start_keeping(s);
    const bool alone = !s.session->joined() && s.session->policy() == "tessera";
    s.activity.begin(alone);
    if (alone) tessera_sched_on_submission([] { started().activity.submitted(); });
    return nullptr;
  } catch (const std::exception& error) {
    s.error = error.what();
    s.session.reset(), s.runtime.reset();
    return s.error.c_str();
  }
}

double seconds(const Job& job) {
  try {
    return std::visit(
        [](const auto& call) {
          return routines::predicted_seconds(routines::machine_for(*started().session, routines::memories_of(call)),
                                             call);
        },
        job.call);
  } catch (const std::exception&) {
    return std::numeric_limits<double>::infinity();  // the devices will not take the call
  }
}

/// Calls `compute` while the workers run.
template <typename Compute>
Outcome on_the_devices(const Listener* listener, Compute compute) {
  auto& s = started();
  const common::overwrites::Listening until_done(listener);
  s.activity.enter();
  ours = true;
  tile::kept::reused_bytes = 0;
  auto outcome = Outcome::Done;
  const auto decline = [&](const std::exception& error) {
    objection = error.what();
    outcome = Outcome::Declined;
  };
  try {
    compute();
  } catch (const ArgumentError& error) {
    decline(error);
  } catch (const plan::NoRoom& error) {
    decline(error);
  } catch (const std::bad_alloc& error) {  // for a copy of an operand
    decline(error);
  } catch (const std::exception& error) {
    objection = error.what();
    const std::lock_guard lock(s.failing);
    if (s.failure.empty()) s.failure = error.what();  // only the first failure is reported
    outcome = Outcome::Failed;
  }
  ours = false;
  tile::kept::watches_operands = false;
  s.activity.leave();
  return outcome;
}

Outcome run(const Call* call, const Listener* listener) {
  return on_the_devices(listener, [&] {
    tile::kept::watches_operands = true;
    routines::compute_legal(*call);
  });
}

// LAPACK's names for real matrices.
void ormqr(auto... x) { unmqr(x...); }
void orgqr(auto... x) { ungqr(x...); }

// The arguments of a LapackCall after the layout, in the form that the routines on pointers take.
#define GIVE_OPTION(Type, name, ...) , c.name
#define GIVE_SIZE(name, ...) , c.name
#define GIVE_MATRIX(name, ld, ...) , static_cast<T*>(c.name), c.ld
#define GIVE_PIVOTS(...) , static_cast<Int*>(c.ipiv)
#define GIVE_TAU(...) , static_cast<T*>(c.tau)
#define GIVE_WORK(...)
#define RETURN_Info(info) return info
#define RETURN_None(call) return call, 0

template <Scalar T, typename Int>
Index compute_typed(const LapackCall& c) {
  switch (c.routine) {
#define LAPACK(name, list, matrix, pivots, info, types) \
  case blas::LapackRoutine::name:                       \
    RETURN_##info(name(c.layout LAPACK_##list(GIVE, )));
#include "blas/lapack.def"
#undef LAPACK
  }
  return 0;
}

/// Computes a legal call on the devices.
/// @return  info
/// @throws ArgumentError if Tessera does not accept the call, for example if its operands overlap or a pivot is not a
///         valid row
Index compute_lapack(const LapackCall& call) {
  return common::with_type(call.type, [&]<Scalar T>(T) {
    return call.wide ? compute_typed<T, std::int64_t>(call) : compute_typed<T, std::int32_t>(call);
  });
}

Outcome solve(const LapackCall* call, Index* info, const Listener* listener) {
  return on_the_devices(listener, [&] { *info = compute_lapack(*call); });
}

void stop() {
  auto& s = started();
  s.activity.end();
  tessera_sched_on_submission(nullptr);
  s.session.reset(), s.runtime.reset();
}

void settle() {
  using namespace std::chrono_literals;
  constexpr auto longest_task = 2s;
  const auto running = [] { return starpu_task_nsubmitted() + runtime::products_without_tasks; };
  int left = running();
  for (auto changed = std::chrono::steady_clock::now(); left > 0;) {
    std::this_thread::sleep_for(1ms);
    const auto now = std::chrono::steady_clock::now();
    if (const int count = running(); count != left) left = count, changed = now;
    if (now - changed > longest_task) break;  // the rest waits for the call that the calling thread has left
  }
}

}  // namespace

extern "C" const Engine* tessera_dropin_engine() {
  static constexpr Engine engine{Engine::current_version,
                                 start,
                                 [] { return started().devices.c_str(); },
                                 seconds,
                                 [] { return starpu_worker_get_id() >= 0; },
                                 [] { return started().session->machine().has_owners(); },
                                 run,
                                 solve,
                                 [] { return tile::kept::reused_bytes; },
                                 [] { return started().failure.c_str(); },
                                 [] { return objection.c_str(); },
                                 stop,
                                 settle};
  return &engine;
}

}  // namespace tessera::dropin
