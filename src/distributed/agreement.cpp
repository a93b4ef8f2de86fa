// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"

#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace tessera::detail {

namespace {

/// FNV-1a: the same in all processes.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace

void end_all_processes(const std::string& why) noexcept {
  std::fprintf(stderr, "tessera: %s. All processes end.\n", why.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

void wait_for_a_better_message() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

Agreement::Agreement(MPI_Comm comm) : comm_(comm) {
#ifndef STARPU_SIMGRID  // a thread that polls would stop the simulation
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
#endif
  theirs_.resize(static_cast<std::size_t>(size_));
  compared_.resize(static_cast<std::size_t>(size_));
  if (rank_ == 0 && size_ > 1) watcher_ = std::thread([this] { watch(); });
}

Agreement::~Agreement() {
  if (size_ == 1) return;
  post("the end of the grid");
  // Process 0 goes on watching until all are here: one that still makes calls would wait for this one forever.
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &all);
  for (int here = 0; here == 0;) {
    MPI_Test(&all, &here, MPI_STATUS_IGNORE);
    if (here == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ends_ = true;
  if (watcher_.joinable()) watcher_.join();
}

void Agreement::post(const std::string& call) {
  if (size_ == 1) return;
  Record record{hash_of(call), {}};
  std::copy_n(call.begin(), std::min(call.size(), sizeof(record.text) - 1), record.text);
  if (rank_ != 0) {  // so short that MPI does not wait for the receiver
    MPI_Send(&record, sizeof(record), MPI_BYTE, 0, 0, comm_);
    return;
  }
  const std::lock_guard lock(mutex_);
  own_.push_back(record);
  for (int rank = 1; rank < size_; rank++) compare(rank);
}

void Agreement::compare(int rank) {
  auto& theirs = theirs_[static_cast<std::size_t>(rank)];
  auto& done = compared_[static_cast<std::size_t>(rank)];
  while (!theirs.empty() && done < first_ + own_.size()) {
    const auto &mine = own_[done - first_], &other = theirs.front();
    if (mine.hash != other.hash)
      end_all_processes("process " + std::to_string(rank) + " calls " + other.text + ", but process 0 calls " +
                        mine.text);
    theirs.pop_front();
    done++;
  }
  const auto least = *std::min_element(compared_.begin() + 1, compared_.end());
  for (; first_ < least; first_++) own_.pop_front();
}

void Agreement::watch() {
  while (true) {
    if (ends_) {  // all messages are on their way
      const std::lock_guard lock(mutex_);
      if (own_.empty()) return;
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

}  // namespace tessera::detail
