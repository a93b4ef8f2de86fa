// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/input/paje.hpp"
#include "trace/input/starpu_records.hpp"
#include "trace/recorded_run.hpp"

namespace tessera::trace {

/// Finds the tile that had a handle's address at a given time. StarPU reuses these addresses.
class Tiles {
 public:
  /// @param data  must outlive this object
  Tiles(const std::vector<PajeTrace::Registration>& registrations, const std::vector<RecordedData>& data);

  /// @return an index for `operator[]`
  int at(std::uint64_t handle, double time);
  Tile& operator[](int tile) { return tiles_[static_cast<std::size_t>(tile)]; }
  /// All tiles that have been looked up.
  std::vector<Tile> take() { return std::move(tiles_); }

 private:
  struct Life {
    double begin = 0;
    bool ended = false;
    int tile = none;
    const RecordedData* data = nullptr;
  };

  std::unordered_map<std::uint64_t, std::vector<Life>> lives_;
  std::vector<Tile> tiles_;
};

/// Fills in `transfers`: all transfers of tiles that tasks use, and all other transfers after the first submission.
/// @pre  `run` has its workers, nodes and tasks, with the times of the trace
void add_transfers(Run& run, const PajeTrace& trace, Tiles& tiles);

}  // namespace tessera::trace
