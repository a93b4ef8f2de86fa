// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/not_copyable.hpp"
#include "failure_watch.hpp"
#include "fair_shares.hpp"
#include "outstanding.hpp"

namespace tessera::common {
struct Failure;
}

namespace tessera::detail {
class Session;
}

namespace tessera::runtime {

/// Calls that can be waited for together, and their failures.
class CallGroup {
 public:
  Outstanding& unfinished() noexcept { return unfinished_; }
  FailureWatch& failures() noexcept { return failures_; }

 private:
  Outstanding unfinished_;
  FailureWatch failures_;
};

}  // namespace tessera::runtime

namespace tessera::detail {

/// The calls of one `Submissions`.
class Scope : public runtime::CallGroup {
 public:
  explicit Scope(std::shared_ptr<Session> session) : session_(std::move(session)) {}

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace tessera::detail

namespace tessera::runtime {

/// Begins a call that the calling thread will wait for. If the process is exiting, stops this thread instead.
Outstanding::One begin_unless_exiting(CallGroup& all);

/// Makes one call of several that the calling thread submits during its lifetime: no other thread's call comes between
/// them, and an exit waits for all of them.
class WholeCall : common::NotCopyable {
 public:
  explicit WholeCall(const detail::Session& session);
  ~WholeCall();

 private:
  Outstanding::One in_all_;
  std::lock_guard<std::recursive_mutex> alone_;
};

/// A call of a routine on tiles. It ends once it has submitted all of its tasks and they have run: the last `one_ends`
/// destroys it.
class Call {
 public:
  /// @param all         the calls of the session
  /// @param shares      how running calls share the devices
  /// @param is_private  whether only this call uses the tiles, and the caller waits for the call to end
  /// @param metered     whether its tasks are counted for `progress_now`
  Call(CallGroup& all, FairShares& shares, bool is_private, bool metered);

  void task_begins() noexcept { unfinished_.fetch_add(1, std::memory_order_relaxed); }
  /// Call this once for each task that has run, and once when all tasks have been submitted.
  void one_ends() noexcept {
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void fails(const std::shared_ptr<common::Failure>& failure);
  bool metered() const noexcept { return metered_; }
  /// Only the submitting thread may use the share, except for `has_run`.
  FairShares::Share& share() noexcept { return share_; }

 private:
  ~Call() = default;

  std::atomic<std::int64_t> unfinished_ = 1;
  const bool private_, metered_;
  CallGroup& all_;
  const Outstanding::One in_all_;
  FairShares::Share share_;  // after in_all_, whose initializer stops the thread if the process is exiting
  std::vector<std::pair<std::shared_ptr<detail::Scope>, Outstanding::One>> scopes_;
};

}  // namespace tessera::runtime
