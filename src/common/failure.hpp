// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

/// Failures of tile operations, which cannot throw. A failure is recorded for the tiles that the task writes. It
/// spreads to every tile computed from a failed tile, until a thread waits for such a tile and receives an exception.
namespace tessera::common {

struct Failure {
  explicit Failure(std::string sentence) : what(std::move(sentence)) {}
  const std::string what;
  std::atomic<bool> told = false;  ///< whether a waiting thread has received this failure as an exception
};

/// Records a failure for the tiles that the thread's current task writes. The failure is "stray" if the task writes no
/// tile, or if the thread runs no task, for example while it copies between memories.
void report_failure(const std::string& what);

/// The number of stray failures in this process, and the message of the last one ("" if there was none).
std::uint64_t stray_failures();
std::string last_stray_failure();

namespace failed_tiles {

inline std::atomic<bool> exist = false;  // keeps the checks below cheap as long as nothing has failed

/// The slow paths of `reads_failed_tile`, `failure_after`, `failure_of` and `take_failure`.
bool are_read(const starpu_task& task);
std::shared_ptr<Failure> after(const starpu_task& task);
std::shared_ptr<Failure> of(starpu_data_handle_t tile);
std::shared_ptr<Failure> take(starpu_data_handle_t tile);

}  // namespace failed_tiles

/// Whether a task reads a failed tile. The values of such a tile are arbitrary, so indices may be out of bounds.
inline bool reads_failed_tile(const starpu_task& task) { return failed_tiles::exist && failed_tiles::are_read(task); }

/// Call this after a task has run, before its dependent tasks may start. If the task reported a failure or read a
/// failed tile, the tiles that it has written fail; otherwise they become good again.
/// @return  the failure of the written tiles, or null
inline std::shared_ptr<Failure> failure_after(const starpu_task& task) {
  return failed_tiles::exist ? failed_tiles::after(task) : nullptr;
}

/// Returns the failure of a tile, or null. The tile remains failed: its values stay arbitrary.
inline std::shared_ptr<Failure> failure_of(starpu_data_handle_t tile) {
  return failed_tiles::exist ? failed_tiles::of(tile) : nullptr;
}

/// Returns the failure of a tile, or null, and marks the tile as good. Also call this for a new tile, because StarPU
/// may reuse the handle of an earlier one of the program.
inline std::shared_ptr<Failure> take_failure(starpu_data_handle_t tile) {
  return failed_tiles::exist ? failed_tiles::take(tile) : nullptr;
}

}  // namespace tessera::common
