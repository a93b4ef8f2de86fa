// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "calls.hpp"
#include "machine/gpu.hpp"
#include "machine/starpu_folder.hpp"
#include "recording.hpp"
#include "runtime/progress/display.hpp"
#include "session_resources.hpp"

namespace tessera::detail {

/// The StarPU that Tessera runs on, and what the routines need to know of it. One for the process at a time, kept
/// alive by every Runtime and every Matrix.
class Session {
 public:
  explicit Session(const RuntimeOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool joined() const noexcept { return joined_; }
  int cpu_workers() const noexcept { return cpu_workers_; }
  int gpu_count() const noexcept { return static_cast<int>(gpu_workers_.size()); }
  /// CUDA ordinals, and for each of those devices the StarPU workers that drive it.
  const std::vector<int>& gpus() const noexcept { return gpus_; }
  const std::vector<std::vector<int>>& gpu_workers() const noexcept { return gpu_workers_; }
  /// Bytes of each GPU, of the smallest if they differ, that tiles are chosen for: its limit, or most of what it has
  /// even if others use some, but not more than half; 0: no GPU, or not known.
  double gpu_memory() const noexcept { return gpu_memory_; }
  bool gpus_alike() const noexcept { return gpus_alike_; }
  Placement placement() const noexcept { return placement_; }
  /// Whether each tile of a result has its GPU: for good, or as a suggestion to the policy.
  bool has_owners() const noexcept { return placement_ == Placement::Owner || placement_ == Placement::Home; }
  Index tile() const noexcept { return tile_; }
  const std::string& policy() const noexcept { return policy_; }
  const std::vector<std::string>& unused_devices() const noexcept { return unused_; }
  const std::vector<gpu::Info>& gpu_info() const noexcept { return gpu_info_; }
  /// The trace that is recorded; nothing: none is.
  std::optional<Recording>& recording() noexcept { return recording_; }
  /// Those on whatever tiles.
  CallGroup& calls() const noexcept { return calls_; }
  /// Whether it is known how many tasks the program has submitted itself: the policy counts them.
  bool counts_other_tasks() const noexcept { return counts_other_tasks_; }
  /// Waits for the calls that were made before, and for all tasks of the program's own, if there can be any.
  void wait_for_everything();
  /// Held while the tasks of one call are submitted.
  std::mutex& submission() const noexcept { return submission_; }

 private:
  void start(const RuntimeOptions& options);
  void look_at_workers();

  mutable CallGroup calls_;
  // Each needs those before it.
  std::optional<StarpuFolder> starpu_folder_;  ///< nothing: StarPU is the program's
  std::optional<Recording> recording_;
  std::optional<ProgressDisplay> progress_;
  std::optional<RunningStarpu> starpu_;
  std::optional<SingleHostThread> host_thread_;
  std::optional<PreparedDevices> devices_;
  mutable std::mutex submission_;
  bool joined_ = false;
  bool counts_other_tasks_ = false;
  std::atomic<std::uint64_t> other_tasks_done_ = 0;  ///< of those that the policy has counted
  int cpu_workers_ = 0;
  double gpu_memory_ = 0;
  bool gpus_alike_ = true;
  Placement placement_ = Placement::Scheduler;
  Index tile_ = 0;
  std::string policy_;
  std::vector<int> gpus_;
  std::vector<std::vector<int>> gpu_workers_;
  std::vector<gpu::Info> gpu_info_;
  std::vector<std::string> unused_;
};

/// @param what  the routine that asks, as the user knows it
/// @throws RuntimeError within a StarPU task or its callback, where waiting would block the worker that is waited for,
///         and in a forked child
void require_can_wait(const char* what);

/// Whether this process was forked from one in which a session lived: there StarPU has lost its threads, and what is
/// left of the session is never destroyed.
bool in_forked_child() noexcept;

/// The session that runs, or a new one with default options that lives until the process exits.
std::shared_ptr<Session> session();

/// The same, after `require_can_wait`.
std::shared_ptr<Session> session_to_wait(const char* what);

/// The session that runs, or a new one with `options` that lives as long as somebody holds it.
std::shared_ptr<Session> session(const RuntimeOptions& options);

}  // namespace tessera::detail
