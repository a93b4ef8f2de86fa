// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"

#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "common/no_signals.hpp"

namespace tessera::distributed {

namespace {

/// The FNV-1a hash, which is the same in all processes.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace

void end_all_processes(const std::string& why) noexcept {
  // Several threads may have the same reason. The others wait until the first one has ended the process, which it must
  // not do before MPI knows. MPI may call the handlers of `exit`, which call this function again.
  static std::recursive_mutex ending;
  static bool has_said_why = false;
  const std::lock_guard lock(ending);
  if (!std::exchange(has_said_why, true)) {
    std::fprintf(stderr, "tessera: %s. All processes end.\n", why.c_str());
    std::fflush(stderr);
  }
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

void wait_for_a_better_message() { std::this_thread::sleep_for(std::chrono::seconds(3)); }

Agreement::Agreement(MPI_Comm comm) : comm_(comm) {
#ifndef STARPU_SIMGRID  // a polling thread would stop the simulation
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
#endif
  theirs_.resize(static_cast<std::size_t>(size_));
  compared_.resize(static_cast<std::size_t>(size_));
  const common::NoSignals in_the_thread;
  if (rank_ == 0 && size_ > 1) watcher_ = std::thread([this] { watch(); });
}

Agreement::~Agreement() {
  if (size_ == 1) return;
  begin_end();
  // Process 0 keeps watching until all processes are here. Otherwise nobody would notice a process
  // that still makes calls, and it would wait for the others forever.
  while (!all_are_here()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ends_ = true;
  if (watcher_.joinable()) watcher_.join();
}

void Agreement::begin_end() {
  if (std::exchange(has_begun_to_end_, true)) return;
  post("calls the end of the grid");
  MPI_Ibarrier(comm_, &all_here_);
}

bool Agreement::all_are_here() {
  int here = 0;
  MPI_Test(&all_here_, &here, MPI_STATUS_IGNORE);
  return here != 0;
}

bool Agreement::all_end_within(std::chrono::milliseconds time) {
  if (size_ == 1) return true;
  begin_end();
  for (const auto last = std::chrono::steady_clock::now() + time; !all_are_here();) {
    if (std::chrono::steady_clock::now() > last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void Agreement::post(const std::string& action) {
  if (size_ == 1) return;
  Record record{hash_of(action), {}};
  std::copy_n(action.begin(), std::min(action.size(), sizeof(record.text) - 1), record.text);
  if (rank_ != 0) {  // too short for MPI to wait for the receiver
    MPI_Send(&record, sizeof(record), MPI_BYTE, 0, 0, comm_);
    return;
  }
  const std::lock_guard lock(mutex_);
  own_.push_back(record);
  for (int rank = 1; rank < size_; rank++) compare(rank);
}

void Agreement::differ(int rank, const Record& mine, const Record& other) {
  auto difference = "process " + std::to_string(rank) + " " + other.text + ", but process 0 " + mine.text;
  const auto leaves = [](const Record& record) { return std::string_view(record.text).starts_with("leaves"); };
  if (!leaves(mine) && !leaves(other)) end_all_processes(difference);
  difference_ = std::move(difference);
  time_to_say_so_ = std::chrono::steady_clock::now() + time_for_the_handler;
}

void Agreement::compare(int rank) {
  auto& theirs = theirs_[static_cast<std::size_t>(rank)];
  auto& done = compared_[static_cast<std::size_t>(rank)];
  while (!theirs.empty() && done < first_ + own_.size() && difference_.empty()) {
    const auto &mine = own_[done - first_], &other = theirs.front();
    if (mine.hash != other.hash) return differ(rank, mine, other);
    theirs.pop_front();
    done++;
  }
  const auto least = *std::min_element(compared_.begin() + 1, compared_.end());
  for (; first_ < least; first_++) own_.pop_front();
}

void Agreement::watch() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      // All messages have been sent, and no process waits for another.
      if (ends_ && (own_.empty() || !difference_.empty())) return;
      if (!difference_.empty() && std::chrono::steady_clock::now() > time_to_say_so_) end_all_processes(difference_);
    }
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &arrived, &status);
    if (arrived == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    Record record{};
    MPI_Recv(&record, sizeof(record), MPI_BYTE, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE);
    const std::lock_guard lock(mutex_);
    theirs_[static_cast<std::size_t>(status.MPI_SOURCE)].push_back(record);
    compare(status.MPI_SOURCE);
  }
}

}  // namespace tessera::distributed
