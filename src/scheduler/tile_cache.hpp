// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <vector>

#include "ready_task.hpp"

namespace tessera::scheduler {

/// The memories of a machine as a cache of tiles, seen from each of them: its own memory is the first level, that of
/// the GPUs which it can copy from at least as fast as from the host is the second. Source: BLASX (Wang et al., ICS
/// 2016). Where a tile is, StarPU knows; it is asked each time, without its locks: an answer may be out of date when it
/// arrives, and nothing but speed may depend on it.
class TileCache {
 public:
  enum class Level { Far = 0, Peer = 1, Own = 2 };

  /// @param peers_first  makes StarPU copy from such a peer, rather than from the host, when both have the tile
  explicit TileCache(bool peers_first);

  static bool valid(starpu_data_handle_t tile, unsigned node);
  /// Whether there is memory for it; in the host's, a temporary tile has none.
  static bool has_place(starpu_data_handle_t tile, unsigned node);
  /// Asked for, or on its way.
  static bool arriving(starpu_data_handle_t tile, unsigned node);

  /// The level that has the tile, or that it is on its way to.
  Level level(starpu_data_handle_t tile, unsigned node) const;

  struct Score {
    std::size_t sum = 0;  ///< Σ bytes × level over the tiles that a task reads
    bool best = true;     ///< all of them are on the own level
  };
  /// A tile that is only written counts as on the own level.
  Score score(starpu_task* task, unsigned node) const;

  /// Whether all that a task reads is there.
  static bool at_hand(starpu_task* task, unsigned node);
  /// What of it is not.
  static std::vector<starpu_data_handle_t> missing(starpu_task* task, unsigned node);

  /// Whether no peer has the tile yet, but one is getting it.
  bool on_its_way_to_a_peer(starpu_data_handle_t tile, unsigned node) const;

  /// Whether the node can copy from there at least as fast as from the host.
  bool is_peer(unsigned source, unsigned node) const;

  /// Seconds that it takes to bring all that a task reads, if the links have nothing else to do.
  double seconds_to_move(starpu_task* task, unsigned node) const;

  /// False if all workers share one memory: then every tile is everywhere.
  bool distributed() const noexcept { return peers_.size() > 1; }

 private:
  std::vector<std::vector<unsigned>> peers_;  ///< by memory node
};

}  // namespace tessera::scheduler
