// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/not_copyable.hpp"

namespace tessera::distributed {

/// Ends all processes of the program if one of those listed has ended. mpirun usually does that earlier, but not every
/// launcher notices. Gives other processes time to report a cause first.
/// @param processes  by rank; 0: not known, and not looked at
void require_living(const std::vector<pid_t>& processes);

/// A thread that calls `require_living` several times per second. Whatever waits for one of these processes, in MPI or
/// for a tile, thus ends. Processes on other nodes, and those whose memory cannot be read, are not watched: their
/// launcher must end the program.
class ProcessWatch : common::NotCopyable {
 public:
  /// @param processes  by rank; 0: not watched
  explicit ProcessWatch(std::vector<pid_t> processes);
  /// @pre  no process ends before all have called this
  ~ProcessWatch();

 private:
  void watch();

  std::vector<pid_t> processes_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tessera::distributed
