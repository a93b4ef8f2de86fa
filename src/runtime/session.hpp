// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "common/not_copyable.hpp"
#include "machine/machine.hpp"

namespace tessera::runtime {
class CallGroup;
class FairShares;
class Recording;
}  // namespace tessera::runtime

namespace tessera::detail {

/// The StarPU on which Tessera runs, and what the routines need to know about it. A process has at most one session at
/// a time (process_session.hpp). Every Runtime and every Matrix keeps it alive.
class Session : common::NotCopyable {
 public:
  explicit Session(const RuntimeOptions& options);
  ~Session();

  bool joined() const noexcept { return joined_; }
  const machine::Machine& machine() const noexcept { return machine_; }
  /// The machine with which to plan a call on operands in a given place.
  /// @param operands  as in Machine
  const machine::Machine& machine_for_plan(int operands) const noexcept {
    return operands == machine::in_host_memory || operands >= machine_.gpu_count()
               ? machine_
               : elsewhere_[static_cast<std::size_t>(operands - machine::on_their_owners)];
  }
  const std::string& policy() const noexcept { return policy_; }
  const std::vector<std::string>& unused_devices() const noexcept { return unused_; }
  /// A sentence that says why CPU cores compute tiles alongside the GPUs, or why not; "": there are no GPUs, or they
  /// own no tiles.
  const std::string& cores() const noexcept { return cores_; }
  /// The trace being recorded, or null.
  runtime::Recording* recording() noexcept;
  /// All calls on tiles.
  runtime::CallGroup& calls() const noexcept;
  /// How concurrent calls share the devices.
  runtime::FairShares& shares() const noexcept;
  /// Whether the policy counts the tasks that the program itself submits.
  bool counts_other_tasks() const noexcept { return counts_other_tasks_; }
  /// Calls a function before StarPU stops. Do not call this from several threads at a time.
  void at_end(void (*release)());
  /// Waits for all earlier calls and, if there can be any, for all of the program's own tasks.
  void wait_for_everything();
  /// Held while the tasks of one call are submitted.
  std::recursive_mutex& submission() const noexcept { return submission_; }

 private:
  struct Parts;

  void start(const RuntimeOptions& options);
  int cpu_workers(const RuntimeOptions& options);
  void look_at_workers();
  void add_gpus(const std::vector<int>& workers);
  void number_first_workers();
  void find_sharing_cores();

  std::unique_ptr<Parts> parts_;
  mutable std::recursive_mutex submission_;
  bool joined_ = false;
  bool counts_other_tasks_ = false;
  machine::Machine machine_;
  std::vector<machine::Machine> elsewhere_;  ///< `machine_`, for operands elsewhere; from `on_their_owners` on
  std::string policy_;
  std::vector<std::string> unused_;
  std::string cores_;
};

}  // namespace tessera::detail
