// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include <starpu.h>

#include <bit>
#include <cstdint>

#include <tessera/error.hpp>

#include "algorithms/pivot_tiles.hpp"
#include "common/ending_tiles.hpp"
#include "common/failure.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "tile/processes.hpp"

namespace tessera {

namespace detail {

namespace {

std::int64_t& value_of(starpu_data_handle_t handle) {
  return *static_cast<std::int64_t*>(starpu_data_handle_to_pointer(handle, STARPU_MAIN_RAM));
}

}  // namespace

Outcome::Outcome(std::shared_ptr<Session> session, std::shared_ptr<tile::Processes> processes)
    : session_(std::move(session)), processes_(std::move(processes)) {
  static auto ops = common::forgotten_at_their_end(starpu_interface_variable_ops);
  starpu_variable_interface variable{};
  variable.id = STARPU_VARIABLE_INTERFACE_ID, variable.elemsize = sizeof(std::int64_t);
  starpu_data_register(&handle_, -1, &variable, &ops);
  starpu_data_set_sequential_consistency_flag(handle_, 1);  // the program may have changed the default
  starpu_data_set_name(handle_, "info");
  common::take_failure(handle_);
  if (processes_) processes_->keep(handle_);
}

Outcome::~Outcome() {
  if (!runtime::in_forked_child()) starpu_data_unregister_submit(handle_);
}

void Outcome::succeed() {
  const auto set = [](void* handle) {
    value_of(static_cast<starpu_data_handle_t>(handle)) = 0;
    starpu_data_release_on_node(static_cast<starpu_data_handle_t>(handle), STARPU_MAIN_RAM);
  };
  starpu_data_acquire_on_node_cb(handle_, STARPU_MAIN_RAM, STARPU_W, set, handle_);
}

void Outcome::succeed_without(const codelets::OutcomeValue* value) {
  delete value;
  succeed();
}

Index Outcome::wait(const char* caller) const {
  runtime::require_can_wait(caller);
  starpu_data_acquire_on_node(handle_, STARPU_MAIN_RAM, STARPU_R);
#ifdef STARPU_SIMGRID
  const Index value = 0;  // simulated tasks compute nothing
#else
  const Index value = value_of(handle_);
#endif
  starpu_data_release_on_node(handle_, STARPU_MAIN_RAM);
  if (const auto failure = common::failure_of(handle_)) {
    failure->told = true;
    throw RuntimeError(failure->what);
  }
  if (processes_ && !of_all_) of_all_ = processes_->least(value);
  return of_all_.value_or(value);
}

}  // namespace detail

Index Info::wait() const { return outcome_->wait(); }
starpu_data_handle_t Info::handle() const noexcept { return outcome_->handle(); }

double Growth::wait() const {
  return outcome_ == nullptr ? 1 : std::bit_cast<double>(static_cast<std::int64_t>(outcome_->wait("Growth::wait")));
}

std::vector<Index> Pivots::wait() const { return tiles_->wait(); }

}  // namespace tessera
