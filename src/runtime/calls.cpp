// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <algorithm>

#include <tessera/submissions.hpp>

#include "exit_gate.hpp"
#include "process_session.hpp"

namespace tessera {

namespace detail {

namespace {
/// Those of the thread, the outermost first.
thread_local std::vector<std::shared_ptr<Scope>> scopes;

CallGroup& beyond_the_exit_gate(CallGroup& calls) {
  exit_gate::pass();
  return calls;
}
}  // namespace

Call::Call(CallGroup& all, bool is_private, bool metered)
    : private_(is_private), metered_(metered), all_(beyond_the_exit_gate(all)), in_all_(all.unfinished()) {
  if (private_) return;
  scopes_.reserve(scopes.size());
  for (const auto& scope : scopes) scopes_.emplace_back(scope, scope->unfinished());
}

void Call::fails(const std::shared_ptr<codelets::Failure>& failure) {
  if (private_) return;
  for (const auto& [scope, in_scope] : scopes_) scope->failures().add(failure);
  all_.failures().add(failure);
}

}  // namespace detail

Submissions::Submissions() : scope_(std::make_shared<detail::Scope>(detail::session())) {
  detail::scopes.push_back(scope_);
}

Submissions::~Submissions() { std::erase(detail::scopes, scope_); }

void Submissions::wait() {
  detail::require_can_wait("Submissions::wait");
  scope_->unfinished().wait();
  scope_->failures().check();
}

}  // namespace tessera
