// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "decision.hpp"
#include "engine.hpp"
#include "host.hpp"
#include "log.hpp"
#include "settings.hpp"

namespace tessera::dropin {

/// What the drop-in has in a process: made at its first call of the BLAS, and then nothing but the host BLAS; devices
/// when a call pays. Gone without a trace in a forked child, at `dlclose` and at the exit.
class Guest {
 public:
  /// Never destroyed: other threads may still compute while the process exits.
  static Guest& of_process();

  const HostBlas& host() const noexcept { return host_; }
  Decision& decision() noexcept { return decision_; }
  Log& log() noexcept { return log_; }

  /// Whether the calling thread is in a task, or otherwise in a call on the devices: our own tiles, most of the time.
  /// Such calls are for the host, and are not the program's.
  bool is_inside() const noexcept;

  /// From now on all calls stay on the host, and the user is told why.
  void give_up(const std::string& why);

  /// To be said of each call that the devices have computed. Libraries such as cuBLAS make what they need for a kind of
  /// call when it comes for the first time, and destroy it at the exit: the devices must have stopped by then.
  /// @return whether it was the first of its kind
  bool computed(const Call& call);

  /// No host BLAS, nor one of the program's own: nobody can compute.
  [[noreturn]] void abort_without_host() const;

  /// When the process exits, or closes us. Waits for calls of other threads. If the calling thread is itself in the
  /// middle of one (a signal handler that exits), that one never ends: then the devices are left alone once they have
  /// nothing more to do.
  void stop_devices();
  void write_log();

  /// A fork waits for calls on the devices, and they for it: the child would find the host BLAS as our workers have
  /// left it in the middle of a tile, its locks taken. Not if it is in such a call itself.
  void before_fork();
  void after_fork();
  void after_fork_in_child();

 private:
  friend class DeviceCall;
  enum class State { NotStarted, Running, Off };

  Guest();
  void explain_if_forked();
  /// The devices, started if they were not; null if they cannot or shall not be used.
  const Engine* start();
  static const Engine* load();

  Settings settings_;
  HostBlas host_;
  Decision decision_;
  Log log_;

  std::mutex mutex_;
  std::condition_variable changed_;  ///< calls_ or forking_
  std::atomic<State> state_ = State::NotStarted;
  std::atomic<std::uint64_t> kinds_ = 0;  ///< of calls that have been computed: a bit for each routine and type
  int calls_ = 0;                         ///< on the devices now; guarded by mutex_
  bool forking_ = false;                  ///< calls wait; guarded by mutex_
  bool broken_ = false;  ///< the devices have failed, and are not to be touched even to stop them; guarded by mutex_
  bool forked_ = false;  ///< a child, whose parent had started them; guarded by mutex_
  const Engine* loaded_ = nullptr;               ///< guarded by mutex_
  std::atomic<const Engine*> engine_ = nullptr;  ///< the same, once it has started
  std::string devices_, trouble_;                // guarded by mutex_
};

/// The right to use the devices for one call, if it is to go there.
class DeviceCall {
 public:
  DeviceCall(Guest& guest, const Call& call, double flops);
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  explicit operator bool() const noexcept { return engine_ != nullptr; }
  const Engine& engine() const noexcept { return *engine_; }

 private:
  void release();

  Guest& guest_;
  const Engine* engine_ = nullptr;
};

}  // namespace tessera::dropin
