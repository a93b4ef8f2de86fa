// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "codelets/argument_text.hpp"
#include "common/float_mode.hpp"
#include "common/triangle.hpp"
#include "devices/partial_tile.hpp"
#include "dump.hpp"
#include "exchange.hpp"
#include "runtime/progress/progress.hpp"
#include "runtime/running_calls.hpp"
#include "runtime/session.hpp"
#include "tile/stored.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::sinks {

/// A tile without memory of the caller: StarPU allocates it where its tasks run. It exists until all tasks submitted
/// before `release` have run.
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
  /// In traces, shows this tile with the name and coordinates of tile (i, j) of `matrix`.
  void stand_for(const detail::TileGrid& matrix, Index i, Index j) const;
  /// Promises that no further task uses the tile. Does not wait.
  void release() noexcept;

 private:
  starpu_data_handle_t handle_ = nullptr;
};

/// Submits the tile tasks of one call of a routine, earlier tasks with higher priority. Calls that are already running
/// keep their share of the devices (runtime/fair_shares.hpp). During the lifetime of this object, no other thread
/// submits tile tasks, so calls take effect one after another on every tile that they share.
class Submitter {
 public:
  /// @throws RuntimeError if the calling thread computes in a mode that GPUs do not have
  /// @param output  if it is private, no other call uses the tiles that this call writes, and other threads may also
  ///                submit
  /// @param gpus    number of GPUs that take part, counted from the first; they include all owners of tiles; 0: all
  Submitter(const detail::Session& session, const tile::Stored& output, int gpus = 0)
      : session_(session), type_(output.type()), gpus_(gpus), mode_(mode_of_caller(session.machine())),
        call_(new runtime::Call(session.calls(), session.shares(), output.grid().is_private(), counted_.counted())) {
    if (const auto& share = output.grid().share(); share.is_distributed()) exchange_.emplace(share.processes);
    if (!output.grid().is_private()) alone_ = std::unique_lock(session.submission());
  }

  const machine::Machine& machine() const noexcept { return session_.machine(); }
  char type() const noexcept { return type_; }  ///< type of the output: s, d, c or z

  /// Sets the term that the tasks submitted next add to their tile. Traces show it as the task's tag.
  void step(Index k) { step_ = k; }

  /// Whether this process runs the tasks that write a tile. Tasks that another process runs may be passed to `submit`,
  /// too: it then creates no task, and only sends the tiles of this process that the task reads.
  bool runs(starpu_data_handle_t tile) const { return !exchange_ || exchange_->is_mine(tile); }

  /// Declares that no task of the call reads a tile of another process again, unless it travels again.
  void forget(starpu_data_handle_t tile) {
    if (exchange_) exchange_->forget(tile);
  }

  using Temporary = TemporaryTile;
  /// An m×n tile that stands for another tile and belongs to the same process. All processes call this.
  TemporaryTile temporary(const tile::Tile& stands_for, Index m, Index n, std::size_t element_size) {
    TemporaryTile tile(m, n, element_size);
    tile.stand_for(*stands_for.grid, stands_for.i, stands_for.j);
    if (exchange_) exchange_->assign(tile.handle(), stands_for.handle);
    return tile;
  }
  /// A tile for a partial sum of C, used only by this process; empty if another process computes C.
  std::optional<TemporaryTile> partial_sum(const tile::Tile& C, std::size_t element_size) {
    if (!runs(C.handle)) return {};
    TemporaryTile tile(C.rows, C.columns, element_size);
    if (!C.is_whole()) device::use_triangle(tile.handle(), common::uplo_of(C.part), C.diagonal);
    tile.stand_for(*C.grid, C.i, C.j);
    if (exchange_) exchange_->processes().keep(tile.handle());
    return tile;
  }

  /// Limits the memory for copies of other processes' tiles; see `Exchange::limit`. @pre  the output is distributed
  void limit_copies(std::size_t bytes) {
    exchange_->limit(bytes, [this](std::span<const Access> accesses) { submit_empty(accesses); });
  }

  /// The tiles that are sent and received for this call. @pre  the output is distributed
  Exchange& exchange() noexcept { return *exchange_; }
  /// The priority of the next task.
  int priority() const noexcept { return call_->share().now(); }

  /// Starts a chunk: all tasks submitted from now on belong to it.
  void begin_chunk();
  /// Ends the chunk, and submits an empty task that ends once the tasks of the chunk have run.
  /// @param accesses  the accesses of the empty task, which touches no data
  void end_chunk(std::span<const Access> accesses);
  /// Submits a task that only orders others by its accesses: it copies nothing, and has no code to run.
  void submit_empty(std::span<const Access> accesses);

  /// @param args         the codelet's argument struct of codelet.hpp; copied
  /// @param owner        index of the GPU that runs the task; -1: the scheduling policy decides
  /// @param wanted_next  prefetched, when the link is idle, to the memory node where the task has run; may be null
  /// @throws RuntimeError if there is no memory for the arguments, or StarPU refuses the task
  template <typename Args, std::size_t count>
  void submit(starpu_codelet& codelet, const Access (&accesses)[count], const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    static_assert(count <= STARPU_NMAXBUFS, "this StarPU was configured for fewer buffers");
    submit(codelet, std::span<const Access>(accesses), args, owner, wanted_next);
  }

  /// Submits a task whose number of accesses is known only at run time.
  template <typename Args>
  void submit(starpu_codelet& codelet, std::span<const Access> accesses, const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    // Tasks of other processes count, too, so priorities mean the same in all processes.
    const int priority = call_->share().next(args.work.flops);
    if (exchange_ && !exchange_->bring(accesses, priority)) return;
    if (auto* const dump = Dump::active())
      dump->task({args.work.type + std::string(codelet.name), text_of(args), args.work.flops, accesses, owner, priority,
                  step_, wanted_next});
    struct Copy {
      Args args;  // first, because kernels expect the arguments at the start
      TaskEnd end;
    };
    static_assert(std::is_trivially_destructible_v<Copy>);
    void* memory = std::malloc(sizeof(Copy));  // StarPU frees it with the task by free()
    if (memory == nullptr) throw RuntimeError("no memory for the arguments of a task");
    auto* copy = new (memory) Copy{args, {call_.get(), wanted_next, chunk_}};
    copy->args.work.mode = mode_;
    submit(codelet, accesses, copy, sizeof(Args), copy->end, args.work.flops, priority, owner);
  }

 private:
  /// What `task_has_run` needs.
  struct TaskEnd {
    runtime::Call* call;
    starpu_data_handle_t wanted_next;
    starpu_task* chunk;  ///< the empty task at the end of the task's chunk, or null
  };
  struct EndCall {
    void operator()(runtime::Call* call) const noexcept { call->one_ends(); }
  };

  /// The floating-point mode of the calling thread, which CPU workers must use.
  static common::float_mode::Bits mode_of_caller(const machine::Machine& machine);
  static void task_has_run(void* end);
  void submit(starpu_codelet& codelet, std::span<const Access> accesses, void* args, std::size_t args_size,
              TaskEnd& end, double flops, int priority, int owner);

  const detail::Session& session_;
  const char type_;
  const int gpus_;
  const common::float_mode::Bits mode_;
  runtime::CountedCall counted_;
  std::unique_ptr<runtime::Call, EndCall> call_;
  std::unique_lock<std::recursive_mutex> alone_;
  std::optional<Exchange> exchange_;  ///< empty: this process owns all tiles
  starpu_task* chunk_ = nullptr;
  Index step_ = 0;
};

}  // namespace tessera::sinks
