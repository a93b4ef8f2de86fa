// SPDX-License-Identifier: BSD-3-Clause
#include "process_watch.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "agreement.hpp"
#include "common/no_signals.hpp"
#include "remote_memory.hpp"

namespace tessera::distributed {

void require_living(const std::vector<pid_t>& processes) {
  for (std::size_t rank = 0; rank < processes.size(); rank++) {
    if (processes[rank] == 0 || !has_ended(processes[rank])) continue;
    wait_for_a_better_message();
    end_all_processes("process " + std::to_string(rank) + " has ended while other processes need it");
  }
}

ProcessWatch::ProcessWatch(std::vector<pid_t> processes) : processes_(std::move(processes)) {
  const common::NoSignals in_the_thread;
  if (std::ranges::all_of(processes_, [](pid_t process) { return process == 0; })) return;
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // the system allows no further threads: the launcher must notice
  }
}

ProcessWatch::~ProcessWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProcessWatch::watch() {
  constexpr std::chrono::milliseconds between_looks(100);
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, between_looks, [this] { return ends_; })) require_living(processes_);
}

}  // namespace tessera::distributed
