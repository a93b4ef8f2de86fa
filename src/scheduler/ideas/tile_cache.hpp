// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "backend.hpp"

namespace tessera::scheduler {

/// The memories of the machine as a cache of tiles. For a GPU, the first level is its own memory. The second level is
/// the memory of its peers, the GPUs from which it copies at least as fast as from the host. The idea is from BLASX
/// (Wang et al., ICS 2016). The backend knows where each tile is.
class TileCache {
 public:
  enum class Level { Far = 0, Peer = 1, Own = 2 };

  explicit TileCache(const Backend& backend) : backend_(backend) {}
  /// Call this first, once the links are known.
  void set_links(Links links);

  bool valid(TileId tile, unsigned node) const { return backend_.valid(tile, node); }
  bool arriving(TileId tile, unsigned node) const { return backend_.arriving(tile, node); }

  /// The nearest level that has the tile or is receiving it.
  Level level(TileId tile, unsigned node) const;

  /// The time for the links to bring bytes to a memory node, from the fastest peer and from the host [s]. An unknown
  /// rate counts as 1 GB/s, so that results can still be compared.
  double seconds(std::size_t from_peers, std::size_t from_host, unsigned node) const;

  /// The time for the link to copy bytes from a memory node to the host [s].
  double seconds_to_host(std::size_t bytes, unsigned node) const;

  /// Whether the memory node has a valid copy of every tile that the task reads.
  bool has_all(const Task& task, unsigned node) const;
  /// The tiles that the task reads and that have no valid copy in the memory node.
  std::vector<TileId> missing(const Task& task, unsigned node) const;

  /// Whether a tile may have to be copied to the memory node through the host's memory, because neither the host nor a
  /// peer has it.
  bool comes_through_host(TileId tile, unsigned node) const;

  /// Whether no peer of the memory node has the tile yet, but one is receiving it.
  bool on_its_way_to_a_peer(TileId tile, unsigned node) const;

  bool is_peer(unsigned source, unsigned node) const;

  /// Whether copies from a peer take the wires between the memory node and the host, as over a PCI Express bus. Wires
  /// of their own are known to the runtime, or much faster.
  bool shares_host_link(unsigned peer, unsigned node) const;

  /// The time for otherwise idle links to bring the tiles that a task reads to a memory node [s].
  double seconds_to_move(const Task& task, unsigned node) const;

  /// Whether there is more than one memory. If not, every tile is always present.
  bool distributed() const noexcept { return peers_.size() > 1; }

 private:
  const Backend& backend_;
  Links links_;
  std::vector<std::vector<unsigned>> peers_;  ///< by memory node
  std::vector<double> peer_rate_;             ///< rate from the fastest peer [MB/s], by memory node; 0: no peer
};

}  // namespace tessera::scheduler
