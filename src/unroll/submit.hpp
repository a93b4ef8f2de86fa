// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "progress/progress.hpp"
#include "session.hpp"
#include "submitted.hpp"
#include "tile_grid.hpp"

namespace tessera::unroll {

struct Access {
  starpu_data_handle_t handle;
  starpu_data_access_mode mode;
};

/// A tile without memory of the caller: StarPU allocates it where its tasks run. It exists until the tasks submitted
/// before `release` are done.
class TemporaryTile {
 public:
  TemporaryTile() = default;  ///< no tile
  /// An m×n tile with elements of `element_size` bytes, contents undefined.
  TemporaryTile(Index m, Index n, std::size_t element_size);
  ~TemporaryTile() { release(); }
  TemporaryTile(TemporaryTile&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  TemporaryTile& operator=(TemporaryTile&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  starpu_data_handle_t handle() const noexcept { return handle_; }
  /// Gives it in traces the name and the coordinates of tile (i, j) of `matrix`.
  void stand_for(const detail::TileGrid& matrix, Index i, Index j) const;
  /// Promises that no further task uses it. Does not wait.
  void release() {
    if (handle_ != nullptr) starpu_data_unregister_submit(std::exchange(handle_, nullptr));
  }

 private:
  starpu_data_handle_t handle_ = nullptr;
};

/// Submits the tile tasks of one call of a routine, earlier ones with higher priority. While it exists, no other thread
/// submits tile tasks: calls take effect one after another on every tile that they share.
class Submitter {
 public:
  /// @param output  if it is private, the call shares no tile that it writes, and other threads may submit meanwhile
  template <Scalar T>
  Submitter(const detail::Session& session, const Matrix<T>& output) : session_(session) {
    if (!detail::MatrixAccess::grid(output).is_private()) alone_ = std::unique_lock(session.submission());
  }

  /// Sets the term that the tasks submitted next add to their tile. Traces show it as the task's tag.
  void step(Index k) { step_ = k; }

  /// @param args         the codelet's argument struct of codelet.hpp; copied
  /// @param owner        index of the GPU that runs the task, or -1: the scheduling policy decides
  /// @param wanted_next  prefetched, when its link is idle, to the memory node where the task has run; may be null
  /// @throws RuntimeError if there is no memory for the arguments, or StarPU refuses the task
  template <typename Args>
  void submit(starpu_codelet& codelet, std::initializer_list<Access> accesses, const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    auto* copy = std::malloc(sizeof(Args));  // StarPU calls free() on it together with the task
    if (copy == nullptr) throw RuntimeError("no memory for the arguments of a task");
    std::memcpy(copy, &args, sizeof(Args));
    submit(codelet, accesses, copy, sizeof(Args), args.work.flops, owner, wanted_next);
  }

 private:
  void submit(starpu_codelet& codelet, std::initializer_list<Access> accesses, void* args, std::size_t args_size,
              double flops, int owner, starpu_data_handle_t wanted_next);

  const detail::Session& session_;
  std::unique_lock<std::mutex> alone_;
  detail::CountedCall call_;
  int priority_ = 0;
  Index step_ = 0;
};

}  // namespace tessera::unroll
