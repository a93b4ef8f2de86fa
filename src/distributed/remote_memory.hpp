// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <vector>

#include "common/not_copyable.hpp"
#include "devices/peer_memory.hpp"

namespace tessera::distributed {

/// Copies columns from another process of this node.
/// @param target  memory of this process, with the same number and size of columns
/// @return        0, or `errno` if the system refuses
int read_columns(pid_t process, const device::Columns& source, const device::Columns& target) noexcept;

/// Whether a process whose memory can be read has ended.
bool has_ended(pid_t process) noexcept;

/// The processes of a node, if they may read each other's memory.
class ReadableProcesses : common::NotCopyable {
 public:
  ~ReadableProcesses();

  /// Finds the processes whose memory can be read. Some systems let only ancestors read, unless a process permits more.
  /// This process then permits its parent, and thus the parent's descendants; or if the parents differ, any process.
  /// @param node  all processes of the node. Collective
  void find(MPI_Comm node);
  /// Their process numbers, in the order of their ranks. Empty if any of them may not read from another, or there is
  /// only one process.
  const std::vector<pid_t>& processes() const noexcept { return processes_; }

 private:
  std::vector<pid_t> processes_;
  bool named_ = false;
};

}  // namespace tessera::distributed
