// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tessera::detail {

/// Ends all processes of the program: one message on standard error, then MPI_Abort.
[[noreturn]] void end_all_processes(const std::string& why) noexcept;

/// Another process may be about to say what led to an error: that the processes have not made the same calls, or that
/// it ends because of an exception.
void wait_for_a_better_message();

/// Finds out when processes do not make the same calls. Each sends process 0 a record of every call, which nobody waits
/// for. A thread of process 0 compares them with its own.
class Agreement {
 public:
  /// Collective over `comm`, which nothing else uses.
  explicit Agreement(MPI_Comm comm);
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  /// @param call  with all that must be the same
  void post(const std::string& call);

 private:
  struct Record {
    std::uint64_t hash;
    char text[248];  ///< the beginning of the call, for the message
  };

  void watch();
  /// Compares the calls that are known of a process and of this one. @pre  mutex_ is held
  void compare(int rank);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::mutex mutex_;
  std::deque<Record> own_;                  ///< calls that some process has not made yet
  std::uint64_t first_ = 0;                 ///< the number of the first of them
  std::vector<std::deque<Record>> theirs_;  ///< calls that this process has not made yet, of each
  std::vector<std::uint64_t> compared_;     ///< calls of each
  std::atomic<bool> ends_ = false;
  std::thread watcher_;
};

}  // namespace tessera::detail
