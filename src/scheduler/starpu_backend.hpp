// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <string>

#include "ideas/backend.hpp"

namespace tessera::scheduler {

inline TileId id_of(starpu_data_handle_t tile) { return reinterpret_cast<TileId>(tile); }
inline TaskId id_of(starpu_task* task) { return reinterpret_cast<TaskId>(task); }
inline starpu_data_handle_t handle_of(TileId tile) { return reinterpret_cast<starpu_data_handle_t>(tile); }
inline starpu_task* task_of(TaskId task) { return reinterpret_cast<starpu_task*>(task); }

/// Answers the policy's questions from StarPU's state.
class StarpuBackend final : public Backend {
 public:
  /// @param context  the scheduling context
  explicit StarpuBackend(unsigned context) : context_(context) {}

  bool valid(TileId tile, unsigned node) const override;
  bool arriving(TileId tile, unsigned node) const override;
  bool has_own_wires(unsigned source, unsigned destination) const override;
  int suggested_home(TileId tile) const override;
  bool is_planned(TileId tile) const override;
  bool may_fetch(TileId tile) const override;
  bool is_member(int worker) const override;
  std::optional<unsigned> implementation(TaskId task, int worker) const override;
  void set_implementation(TaskId task, unsigned number) override;
  double modelled_seconds(TaskId task, int worker) const override;
  void set_counted(TaskId task, bool counted) override;

 private:
  unsigned context_;
};

/// Describes a task for the policy, except its position in the order of submission and which workers can execute it.
TaskPtr describe(starpu_task* task);

/// Like `tiles_of`, but without sizes, which other threads may still be setting when a task is submitted.
std::vector<TileUse> submitted_tiles(starpu_task* task);

/// How a task uses its tiles, without workspaces.
std::vector<TileUse> tiles_of(starpu_task* task);

/// StarPU's name of a worker, which includes its device. Known only after the worker has started.
std::string name_of(int worker);

/// The links as StarPU has measured them. Known only after its workers have started.
Links measured_links();

/// Prefetches a tile, and counts it as needed there; see ideas/fetching.hpp.
/// @pre  a ready task reads the tile
void prefetch(TileId tile, unsigned node, int priority);
/// The same without counting the tile as needed by a task, and only while the link has nothing else to do.
void prefetch_for_no_task(TileId tile, unsigned node, int priority);

/// Copies tiles to the host when the links are idle, except temporary tiles, which have no memory on the host. The
/// tasks that wrote the tiles may still hold them.
void write_back(const std::vector<TileId>& tiles);

}  // namespace tessera::scheduler
