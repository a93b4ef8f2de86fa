// SPDX-License-Identifier: BSD-3-Clause
#include "running_calls.hpp"

#include <tessera/submissions.hpp>

#include "common/exit_gate.hpp"
#include "process_session.hpp"
#include "session.hpp"

namespace tessera {

namespace runtime {

namespace {
/// The scopes of this thread, outermost first.
thread_local std::vector<std::shared_ptr<detail::Scope>> scopes;
/// The number of WholeCalls in which this thread is. An exit waits for them, so their calls must not stop at its gate.
thread_local int whole_calls = 0;
}  // namespace

// The call is counted before the gate is checked, so either the exit waits for the call, or the call finds the gate
// closed.
Outstanding::One begin_unless_exiting(CallGroup& all) {
  {
    Outstanding::One call(all.unfinished());
    if (whole_calls > 0 || !common::exit_gate::is_closed()) return call;
  }
  common::exit_gate::stop_here();
}

WholeCall::WholeCall(const detail::Session& session)
    : in_all_(begin_unless_exiting(session.calls())), alone_(session.submission()) {
  whole_calls++;
}

WholeCall::~WholeCall() { whole_calls--; }

Call::Call(CallGroup& all, FairShares& shares, bool is_private, bool metered)
    : private_(is_private), metered_(metered), all_(all), in_all_(begin_unless_exiting(all)), share_(shares) {
  if (private_) return;
  scopes_.reserve(scopes.size());
  for (const auto& scope : scopes) scopes_.emplace_back(scope, scope->unfinished());
}

void Call::fails(const std::shared_ptr<common::Failure>& failure) {
  if (private_) return;
  for (const auto& [scope, in_scope] : scopes_) scope->failures().add(failure);
  all_.failures().add(failure);
}

}  // namespace runtime

Submissions::Submissions() : scope_(std::make_shared<detail::Scope>(runtime::session())) {
  runtime::scopes.push_back(scope_);
}

Submissions::~Submissions() { std::erase(runtime::scopes, scope_); }

void Submissions::wait() {
  runtime::require_can_wait("Submissions::wait");
  scope_->unfinished().wait();
  scope_->failures().check();
}

}  // namespace tessera
