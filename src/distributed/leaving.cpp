// SPDX-License-Identifier: BSD-3-Clause
// Handles a process that leaves matrices or grids because of an exception, which the other processes may not have.
#include <starpu.h>

#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include "network.hpp"
#include "process_end.hpp"

namespace tessera::detail {

void Network::End::operator()(Network* network) const {
  if (runtime::in_forked_child()) return;  // MPI and all threads are the parent's
  const bool leaves = std::uncaught_exceptions() > 0 && network->size_ > 1;
  if (leaves) {
    network->leave("leaves a grid because of an exception");
    // If all processes have the exception, they arrive here at about the same time.
    if (!network->agreement_->all_end_within(distributed::time_for_others))
      return distributed::end_all_later("process " + std::to_string(network->rank_) +
                                        " leaves a grid because of an exception, and the others would wait for it");
  }
  delete network;
}

void Network::leave(const std::string& action) {
  if (!leaves_.exchange(true)) agreement_->post(action);
}

bool Network::is_idle() {
  return starpu_task_nsubmitted() == 0 && sends_ == 0 && (!neighbours_ || neighbours_->is_idle());
}

void Network::matrix_ends() noexcept {
  if (std::uncaught_exceptions() == 0) return;
#ifndef STARPU_SIMGRID
  if (size_ == 1) return;
  leave("leaves a distributed matrix because of an exception");
  // The handler of the exception has the more useful message. It is reached unless tiles of this process wait for other
  // processes, which may not make the matching calls.
  for (const auto last = std::chrono::steady_clock::now() + distributed::time_for_the_handler; !is_idle();) {
    if (std::chrono::steady_clock::now() > last)
      distributed::end_all_processes(
          "process " + std::to_string(rank_) +
          " leaves a distributed matrix because of an exception, while its tiles wait for others");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
#else
  distributed::end_all_processes("process " + std::to_string(rank_) +
                                 " leaves a distributed matrix because of an exception");
#endif
}

}  // namespace tessera::detail
