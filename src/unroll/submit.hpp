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

/// A tile that exists only where its tasks run, until those that have been submitted are done.
class TemporaryTile {
 public:
  TemporaryTile() = default;  ///< none
  TemporaryTile(Index m, Index n, std::size_t element_size);
  ~TemporaryTile() { release(); }
  TemporaryTile(TemporaryTile&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  TemporaryTile& operator=(TemporaryTile&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  starpu_data_handle_t handle() const noexcept { return handle_; }
  /// Says in traces which tile it stands for.
  void stand_for(const detail::TileGrid& matrix, Index i, Index j) const;
  /// No further task will use it.
  void release() {
    if (handle_ != nullptr) starpu_data_unregister_submit(std::exchange(handle_, nullptr));
  }

 private:
  starpu_data_handle_t handle_ = nullptr;
};

/// Submits the tile tasks of one call of a routine: earlier ones with higher priority. While it lives, no other thread
/// submits any, so that calls take effect one after another on every tile that they share.
class Submitter {
 public:
  /// @param output  if it is private, there is no such tile, and nothing to wait for
  template <Scalar T>
  Submitter(const detail::Session& session, const Matrix<T>& output) : session_(session) {
    if (!detail::MatrixAccess::grid(output).is_private()) alone_ = std::unique_lock(session.submission());
  }

  /// Which term of its tile the tasks that follow add; shown in traces, as the task's tag.
  void step(Index k) { step_ = k; }

  /// @param args   copied; a struct of codelet.hpp that fits the codelet
  /// @param owner        index of the GPU that shall run it, or -1
  /// @param wanted_next  fetched to where the task has run, when the links have nothing better to do
  template <typename Args>
  void submit(starpu_codelet& codelet, std::initializer_list<Access> accesses, const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    auto* copy = std::malloc(sizeof(Args));  // StarPU frees it with the task, by free()
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
