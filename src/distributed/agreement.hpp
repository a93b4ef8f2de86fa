// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/not_copyable.hpp"

namespace tessera::distributed {

/// Ends all processes of the program: one message on standard error, then MPI_Abort.
[[noreturn]] void end_all_processes(const std::string& why) noexcept;

/// Gives another process time to report the cause of an error: the processes have not made the same calls, or one of
/// them ends because of an exception.
void wait_for_a_better_message();

/// The time that a process with an exception may take to reach the handler, whose message is more useful than
/// Tessera's. The wait is shorter if the handler ends the program.
inline constexpr std::chrono::seconds time_for_the_handler(5);
/// The time to wait for the other processes, which may have the same exception.
inline constexpr std::chrono::milliseconds time_for_others(300);

/// Detects processes that do not make the same calls. Each process sends a record of every call to process 0, without
/// waiting. A thread of process 0 compares these records with those of its own calls.
class Agreement : common::NotCopyable {
 public:
  /// Collective over `comm`, which must not be used for anything else.
  explicit Agreement(MPI_Comm comm);
  /// Waits until all processes call this.
  ~Agreement();

  /// @param action  what this process does ("calls …", "leaves …"), with every value that all processes must agree on
  void post(const std::string& action);
  /// Whether the processes end together, that is, all call this or the destructor in time.
  bool all_end_within(std::chrono::milliseconds time);

 private:
  struct Record {
    std::uint64_t hash;
    char text[248];  ///< the beginning of the text, for messages
  };

  void watch();
  /// Ends all processes, because process `rank` does something different. Ends them at once, unless one of them is on
  /// its way to the handler of an exception. @pre  mutex_ is held
  void differ(int rank, const Record& mine, const Record& other);
  /// Starts to wait for the others, unless already started.
  void begin_end();
  bool all_are_here();
  /// Compares the known calls of another process with this process's. @pre  mutex_ is held
  void compare(int rank);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::mutex mutex_;
  std::deque<Record> own_;                  ///< calls that at least one process has not made yet
  std::uint64_t first_ = 0;                 ///< number of the first of these calls
  std::vector<std::deque<Record>> theirs_;  ///< by process: calls that this process has not made yet
  std::vector<std::uint64_t> compared_;     ///< number of compared calls, by process
  std::string difference_;                  ///< the message that the watcher will print at `time_to_say_so_`
  std::chrono::steady_clock::time_point time_to_say_so_;
  MPI_Request all_here_ = MPI_REQUEST_NULL;
  bool has_begun_to_end_ = false;
  std::atomic<bool> ends_ = false;
  std::thread watcher_;
};

}  // namespace tessera::distributed
