// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::detail {

/// Columns of a tile in the memory of a process.
struct Columns {
  std::uintptr_t address;
  std::size_t bytes;     ///< of a column
  std::size_t distance;  ///< from one column to the next [bytes]
  std::size_t count;

  Columns part(std::size_t first, std::size_t columns) const {
    return {address + first * distance, bytes, distance, columns};
  }
};

/// Copies columns from another process of this node.
/// @param target  memory of this process, with the same number and size of columns
/// @return        0, or `errno` if the system refuses
int read_columns(pid_t process, const Columns& source, const Columns& target) noexcept;

/// The processes of a node, if they may read each other's memory.
class ReadableProcesses {
 public:
  ReadableProcesses() = default;
  ~ReadableProcesses();
  ReadableProcesses(const ReadableProcesses&) = delete;
  ReadableProcesses& operator=(const ReadableProcesses&) = delete;

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

}  // namespace tessera::detail
