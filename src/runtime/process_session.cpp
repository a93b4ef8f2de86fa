// SPDX-License-Identifier: BSD-3-Clause
#include "process_session.hpp"

#include <pthread.h>
#include <starpu.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "common/exit_gate.hpp"
#include "common/roomy_stack.hpp"
#include "counters.hpp"
#include "devices/cpu/one_thread.hpp"
#include "machine/machine_rates.hpp"
#include "running_calls.hpp"
#include "session.hpp"
#include "start_options.hpp"

namespace tessera::runtime {

namespace {

// Never destroyed: other threads may use them while the process exits.
auto& mutex = *new std::mutex;
auto& ended = *new std::condition_variable;
bool alive = false;   // true from the start of a session until after its destructor; guarded by mutex
bool joined = false;  // the last session has joined the program's StarPU; guarded by mutex
auto& running = *new std::weak_ptr<detail::Session>;       // guarded by mutex
auto& until_exit = *new std::shared_ptr<detail::Session>;  // guarded by mutex
std::atomic<bool> in_use = false;                          // StarPU is starting, running or stopping
std::atomic<bool> forked = false;
/// Whether this thread is starting or ending a session. If StarPU or CUDA then calls exit(), the exit must not wait for
/// this thread.
thread_local bool busy = false;

struct Busy {
  Busy() { busy = true; }
  ~Busy() { busy = false; }
};

/// Called in a forked child, where only the forking thread exists. In the parent, other threads may have held the locks
/// or begun to exit.
void begin_as_child() {
  if (in_use) forked = true;
  new (&mutex) std::mutex;
  new (&ended) std::condition_variable;
  common::exit_gate::open();
  device::cpu::OneThread::begin_as_child();
}

/// A session, and what to do after it has ended. A forked child keeps what it has inherited.
struct KeptSession {
  struct End {
    bool expected = false;
    End() { in_use = true; }
    ~End() {
      in_use = false;
      if (!expected) return;  // the session never started, and the thread that tried to start it holds the mutex
      {
        const std::lock_guard guard(mutex);
        alive = false;
      }
      ended.notify_all();
    }
  };
  struct UnlessForked {
    void operator()(detail::Session* session) const {
      const Busy ends;
      if (!forked) delete session;
    }
  };
  End end;  // destroyed after the session
  std::unique_ptr<detail::Session, UnlessForked> session;
  explicit KeptSession(const RuntimeOptions& options) {
    const auto start = [&] {
      const Busy starts;
      session.reset(new detail::Session(options));
    };
#ifdef STARPU_SIMGRID  // SimGrid switches between threads of its own only
    start();
#else
    common::on_roomy_stack(start);  // drivers of devices do not fit into every stack
#endif
  }
};

/// Waits for the calls of other threads. Normally all of them end: their tasks run, and their threads submit the
/// remaining tasks. But a call that a signal handler left by longjmp never ends. The wait is therefore given up if no
/// task is left and none is submitted for longer than a live call would pause, or if no task ends for longer than any
/// task takes.
/// @return  false if the wait was given up
bool calls_have_ended(detail::Session& session) {
  auto& calls = session.calls().unfinished();
#ifdef STARPU_SIMGRID  // polling would not advance simulated time
  calls.wait();
#else
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest_pause = 500ms, longest_task = 5s;
  // A product that the exiting thread itself was computing never ends, so it does not count.
  const auto unfinished = [] { return starpu_task_nsubmitted() + products_without_tasks - products_of_this_thread; };
  int left = unfinished();
  for (auto changed = Clock::now(); !calls.all_have_ended(); std::this_thread::sleep_for(1ms)) {
    const int now = unfinished();
    if (std::exchange(left, now) != now) changed = Clock::now();
    else if (Clock::now() - changed > (now == 0 ? longest_pause : longest_task)) return false;
  }
#endif
  return true;
}

/// Called when the process exits. StarPU, CUDA and the BLAS end next, so neither calls of other threads nor tasks on
/// matrices that were never destroyed may use them any longer. If the program still holds the session, it is never
/// ended.
void end_of_process() {
  if (forked || busy || starpu_worker_get_id() >= 0) return;
  common::exit_gate::close();
  std::unique_lock lock(mutex);
  ended.wait(lock, [] { return !alive || !running.expired(); });
  const auto left = running.lock();
  std::shared_ptr<detail::Session> last;
  last.swap(until_exit);
  lock.unlock();
  machine::finish_measuring();
  const auto session = last != nullptr ? last : left;
  if (session == nullptr) return;
  if (calls_have_ended(*session)) {
    if (last != nullptr) last->wait_for_everything();
  } else {
    static auto& never_ends = *new std::shared_ptr<detail::Session>;  // ending it would wait for that call
    never_ends = session;
  }
}

/// Calls `end_of_process` again when the library is unloaded, to cover calls that other exit handlers have made.
struct LastGuard {
  ~LastGuard() { end_of_process(); }
} last_guard;

/// The running session; null once the last one has shut StarPU down. During the wait for that, another thread may start
/// the next session.
std::shared_ptr<detail::Session> running_session(std::unique_lock<std::mutex>& lock) {
  auto existing = running.lock();
  if (existing != nullptr || !alive) return existing;
  require_can_wait("Runtime");
  ended.wait(lock, [&] { return (existing = running.lock()) != nullptr || !alive; });
  return existing;
}

/// Starts a session. The mutex is held while StarPU starts: other threads need the session, and an exit must not end
/// CUDA at that time.
/// @pre  the last session has shut StarPU down: this one would otherwise join a StarPU that is about to stop
std::shared_ptr<detail::Session> make_session(std::unique_lock<std::mutex>& lock, const RuntimeOptions& options) {
  require_can_wait("Runtime");
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, begin_as_child);
    std::atexit(end_of_process);  // an exit during the start of StarPU waits until it has started
  });
  if (common::exit_gate::is_closed()) {
    lock.unlock();  // the exit needs this lock
    common::exit_gate::stop_here();
  }
  const auto kept = std::make_shared<KeptSession>(options);
  kept->end.expected = alive = true;
  std::shared_ptr<detail::Session> fresh(kept, kept->session.get());
  running = fresh;
  joined = fresh->joined();
  // Registered again, after the handlers of CUDA and StarPU, because handlers run in reverse order.
  static std::once_flag with_gpus, without_gpus;
  std::call_once(fresh->machine().gpu_count() > 0 ? with_gpus : without_gpus, [] { std::atexit(end_of_process); });
  return fresh;
}

/// The running session, or a new one with these options.
/// @param lock  holds the mutex afterwards
std::shared_ptr<detail::Session> session_with(const RuntimeOptions& options, std::unique_lock<std::mutex>& lock) {
  require_can_wait("Runtime");
  lock = std::unique_lock(mutex);  // a starting session changes the environment
  // The options must be legal even if they are not used. If the program runs its own StarPU, the options do not apply.
  const auto complete = with_environment(options);
  auto existing = running_session(lock);
  if (existing == nullptr) return make_session(lock, options);
  try {
    if (!joined) require_possible(complete, existing->machine());
  } catch (...) {
    lock.unlock();  // before `existing` ends, which may be the last to hold the session
    throw;
  }
  return existing;
}

}  // namespace

bool in_forked_child() noexcept { return forked; }

void require_not_forked(const char* what) {
  if (forked)
    throw RuntimeError(std::string(what) +
                       ": this process was forked from one in which Tessera ran: StarPU has no threads here");
}

void require_can_wait(const char* what) {
  require_not_forked(what);
  if (starpu_worker_get_id() >= 0)
    throw RuntimeError(std::string(what) + ": called from within a StarPU task or its callback");
}

std::shared_ptr<detail::Session> session_to_wait(const char* what) {
  require_can_wait(what);
  return session();
}

std::shared_ptr<detail::Session> session(const RuntimeOptions& options) {
  std::unique_lock<std::mutex> lock;
  return session_with(options, lock);
}

void start_own_session(const RuntimeOptions& options) {
  std::shared_ptr<detail::Session> started;  // declared before the lock: no session may end while the mutex is held
  std::unique_lock<std::mutex> lock;         // an exit of another thread must find the session
  started = session_with(options, lock);
  until_exit.swap(started);
}

bool end_own_session() {
  std::shared_ptr<detail::Session> own;  // declared before the lock: no session may end while the mutex is held
  {
    const std::lock_guard lock(mutex);
    own.swap(until_exit);
  }
  if (own != nullptr) own->wait_for_everything();
  return own != nullptr;
}

std::shared_ptr<detail::Session> session() {
  require_not_forked("Tessera");
  std::unique_lock lock(mutex);
  if (auto existing = running_session(lock)) return existing;
  until_exit = make_session(lock, RuntimeOptions{});
  return until_exit;
}

}  // namespace tessera::runtime
