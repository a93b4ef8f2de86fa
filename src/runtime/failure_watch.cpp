// SPDX-License-Identifier: BSD-3-Clause
#include "failure_watch.hpp"

#include <tessera/error.hpp>

#include "common/failure.hpp"

namespace tessera::runtime {

FailureWatch::FailureWatch() : strays_seen_(common::stray_failures()) {}

void FailureWatch::add(const std::shared_ptr<common::Failure>& failure) {
  const std::lock_guard lock(mutex_);
  if (added_.empty() || added_.back() != failure) added_.push_back(failure);  // a failure is added once per spoilt tile
}

void FailureWatch::forget_told() {
  const std::lock_guard lock(mutex_);
  std::erase_if(added_, [](const auto& failure) { return failure->told.load(); });
}

void FailureWatch::check() {
  std::vector<std::shared_ptr<common::Failure>> added;
  {
    const std::lock_guard lock(mutex_);
    added.swap(added_);
  }
  for (const auto& failure : added) failure->told = true;
  const auto now = common::stray_failures();
  const bool stray = strays_seen_.exchange(now) != now;
  if (!added.empty()) throw RuntimeError(added.front()->what);
  if (stray) throw RuntimeError(common::last_stray_failure());
}

}  // namespace tessera::runtime
