// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include <tessera/lapack.hpp>

#include "codelets/codelet.hpp"
#include "common/not_copyable.hpp"

namespace tessera::tile {
class Processes;
}

namespace tessera::detail {

class Session;

/// The info of a factorization, a StarPU variable that the last task writes.
class Outcome : common::NotCopyable {
 public:
  /// @param processes  the processes that share the matrix, each of which checks its own tiles; may be null
  explicit Outcome(std::shared_ptr<Session> session, std::shared_ptr<tile::Processes> processes = {});
  /// Does not wait: StarPU releases the variable when its tasks have run.
  ~Outcome();

  starpu_data_handle_t handle() const noexcept { return handle_; }
  /// Sets the info to 0 without a task. @pre no task uses it
  void succeed();
  /// The same, and deletes the value, because this process has no task that would report to it or deliver it.
  void succeed_without(const codelets::OutcomeValue* value);
  /// If processes share the matrix, all of them must call this.
  /// @param caller  name for error messages
  Index wait(const char* caller = "Info::wait") const;

 private:
  std::shared_ptr<Session> session_;  // keeps StarPU running while the handle exists
  std::shared_ptr<tile::Processes> processes_;
  starpu_data_handle_t handle_ = nullptr;
  mutable std::optional<Index> of_all_;  ///< the value that the processes have agreed on
};

struct InfoAccess {
  static Info info(std::shared_ptr<Outcome> outcome) { return Info(std::move(outcome)); }
  /// @param bits  the bits of a double; null: nothing to measure
  static Growth growth(std::shared_ptr<Outcome> bits) { return Growth(std::move(bits)); }
};

}  // namespace tessera::detail

namespace tessera::routines {

/// A new value to which tasks report, and which the last task deletes. If a submission fails, it is leaked, because
/// tasks may still use it.
template <typename Value>
Value* owned_by_tasks() {
  return new Value;
}

}  // namespace tessera::routines
