// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

/// A tile operation cannot throw. Its failure belongs to the tiles that it writes, and from there goes to every tile
/// that is computed from one of them, until somebody waits for such a tile.
namespace tessera::codelets {

struct Failure {
  explicit Failure(std::string sentence) : what(std::move(sentence)) {}
  const std::string what;
  std::atomic<bool> told = false;  ///< somebody has been thrown it
};

/// Called where it happens. If the task that this thread runs writes no tile, or there is none, as in a copy between
/// memories, it is not known whose failure it is.
void report_failure(const std::string& what);

/// How many there have been in this process of which it is not known whose they are, and the last of these, or "".
std::uint64_t stray_failures();
std::string last_stray_failure();

namespace failed_tiles {

inline std::atomic<bool> exist = false;  // so that asking costs nothing where nothing has failed

/// @return the failure of what the task has written, or null
std::shared_ptr<Failure> after(const starpu_task& task);
std::shared_ptr<Failure> take(starpu_data_handle_t tile);

}  // namespace failed_tiles

/// To be called when a task has run, before those that depend on it may: the tiles that it has written fail if one that
/// it has read did, and are good again if not.
/// @return the failure of what it has written, or null
inline std::shared_ptr<Failure> failure_after(const starpu_task& task) {
  return failed_tiles::exist ? failed_tiles::after(task) : nullptr;
}

/// The failure of a tile, or null. From here on the tile is good: also one that has just been registered, whose handle
/// may have been another's.
inline std::shared_ptr<Failure> take_failure(starpu_data_handle_t tile) {
  return failed_tiles::exist ? failed_tiles::take(tile) : nullptr;
}

}  // namespace tessera::codelets
