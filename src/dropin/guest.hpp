// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "common/not_copyable.hpp"
#include "decision.hpp"
#include "engine.hpp"
#include "host.hpp"
#include "host_threads.hpp"
#include "lapack_host.hpp"
#include "log.hpp"
#include "settings.hpp"

namespace tessera::dropin {

/// The state of the drop-in in a process. The first BLAS call creates it, with only the host BLAS; the devices start
/// when calls pay off, usually in a separate thread. They stop at `dlclose` and at exit, and a forked child does not
/// use them. An exit or a fork during the start waits until the start has finished.
class Guest {
 public:
  /// The only instance. Never destroyed, since other threads may still compute while the process exits.
  static Guest& of_process();

  const HostBlas& host() const noexcept { return host_; }
  HostLapack& lapack() noexcept { return lapack_; }
  HostThreads& host_threads() noexcept { return host_threads_; }
  Decision& decision() noexcept { return decision_; }
  Log& log() noexcept { return log_; }

  /// Whether the calling thread runs a StarPU task or is in a call on the devices. BLAS calls from there mostly compute
  /// Tessera's own tiles. They go to the host, and do not count as calls of the program.
  bool is_inside() const noexcept;

  /// If a signal handler has jumped out of the calling thread's call on the devices, waits until nothing of the call is
  /// running any more, and turns off the devices. The call's stack is lost, so it can never end, and the devices can
  /// never stop.
  /// @param frame  the frame of the function that the program calls now
  void give_up_call_that_was_left(const void* frame);

  /// Turns off the devices: all later calls stay on the host. Prints the reason.
  void give_up(const std::string& why);

  /// Call this after every call that ran on the devices. Libraries such as cuBLAS allocate resources at the first call
  /// of each kind, and destroy them at exit. The devices must stop before that, so this registers a new exit handler.
  /// @return  whether the call was the first one of its routine and type
  bool computed(const Job& job);

  /// Adds a sentence to the log, unless it already has one.
  void remark(const std::string& sentence);

  /// Ends the program, because there is no host BLAS, or no LAPACK, at all.
  [[noreturn]] void abort_without_host(const char* what = "BLAS") const;

  /// Called when the process exits or closes the library. Waits for devices that are starting and for the calls of
  /// other threads, then stops the devices. If the calling thread is itself inside a call (a signal handler that
  /// exits), that call never ends, so this only waits until the devices are idle.
  void stop_devices();
  void write_log();
  /// Called when the process exits. A forked child says nothing.
  void explain_missing_trace();

  /// Fork handlers. A fork waits for a start and for calls on the devices, and new calls wait for the fork. Otherwise
  /// workers could hold locks of the host BLAS in the middle of a tile, and the locks would stay locked in the child. A
  /// thread that forks inside such a call does not wait.
  void before_fork();
  void after_fork();
  void after_fork_in_child();

 private:
  friend class DeviceCall;
  enum class State { NotStarted, Starting, Running, Off };

  Guest();
  void explain_if_forked();
  /// Starts the devices, or waits for the thread that does. Returns null if they cannot or must not be used.
  /// @param lock  holds mutex_
  const Engine* running(std::unique_lock<std::mutex>& lock);
  /// Starts the devices in a separate thread, unless they are already starting.
  /// @return  false if the thread cannot be created
  bool start_beside();
  /// Starts the devices. `state_` is Starting, and has another value afterwards.
  /// @return  holds mutex_, so that the caller's call starts before an exit that waits for the start continues
  std::unique_lock<std::mutex> start();
  static const Engine* load();

  Settings settings_;
  HostBlas host_;
  HostLapack lapack_{host_};
  HostThreads host_threads_{host_};
  Decision decision_;
  Log log_;

  std::mutex mutex_;
  std::condition_variable changed_;  ///< signals changes of state_, loaded_, calls_ and forking_
  std::atomic<State> state_ = State::NotStarted;
  std::atomic<bool> computed_[all_routines][4] = {};  ///< calls, by routine and type
  int calls_ = 0;                                     ///< number of calls on the devices; guarded by mutex_
  bool forking_ = false;                              ///< new calls must wait; guarded by mutex_
  bool broken_ = false;             ///< the devices have failed, and must not even be stopped; guarded by mutex_
  bool forked_ = false;             ///< child of a process that had started devices; guarded by mutex_
  const Engine* loaded_ = nullptr;  ///< guarded by mutex_
  std::thread starter_;             ///< the thread that starts the devices, or has started them
  std::atomic<bool> start_is_over_ = false;      ///< true a moment before state_ changes
  std::atomic<const Engine*> engine_ = nullptr;  ///< equals loaded_ once the devices run
  std::string devices_, trouble_;                // guarded by mutex_
};

/// Permission to run one call on the devices; empty if the call must run on the host.
class DeviceCall : common::NotCopyable {
 public:
  DeviceCall(Guest& guest, const Job& job);
  ~DeviceCall();

  explicit operator bool() const noexcept { return engine_ != nullptr; }
  const Engine& engine() const noexcept { return *engine_; }

 private:
  void release();

  Guest& guest_;
  const Engine* engine_ = nullptr;
};

}  // namespace tessera::dropin
