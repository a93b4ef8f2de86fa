// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>

#include "reservation_station.hpp"

/// Loading operands over the links of peers.
///
/// If several GPUs read the same operands, the GPU that is ahead of the others requests most of them, so its link to
/// the host is busy while those of the others are idle. It then has an operand loaded into the memory of a peer, the
/// *relay*, and copies it from there. Meanwhile, no other GPU loads the operand from the host, because it is on its way
/// to a peer.
///
/// StarPU does not count a relayed tile as needed by a task of the relay, so the relay may evict it. The policy
/// remembers it only as long as the task for which it was requested is reserved.
namespace tessera::scheduler {

struct State;
struct Worker;

/// Chooses relays for the tiles that a worker is about to request.
class Relays {
 public:
  Relays(const State& state, const Worker& worker) : state_(state), worker_(worker) {}

  /// The relay for a tile that a task reads; empty if the worker should not wait for one. There is one only if
  ///  - the task only reads the tile, and neither the worker nor a peer has it or is receiving it,
  ///  - at least as many unfinished tasks as there are GPUs use the tile, so that others probably need it, too,
  ///  - copies from the relay take wires of their own,
  ///  - the relay can execute the task,
  ///  - memory is plentiful, and the program has suggested no home for the result, and
  ///  - the tile arrives earlier this way.
  /// If another task has just chosen a relay for the tile, and its request has not been issued, this is the relay, with
  /// `until` 0; there is none if the worker is the relay or no peer of it. The time for the tile is added to the load
  /// of the link that brings it.
  std::optional<Relay> choose(const Task& task, const TileUse& use);

 private:
  double& load(const Worker& worker);
  bool may_relay(const Worker& other, const Task& task) const;

  const State& state_;
  const Worker& worker_;
  std::map<int, double> loads_;  ///< see `seconds_to_load`, by worker
};

/// The time for the link from the host to bring the tiles that have been requested in a worker's memory [s]. Tiles that
/// a peer has do not count.
double seconds_to_load(const State& state, const Worker& worker);

/// Whether a worker has reserved tasks for which it has chosen relays.
bool has_relays(const State& state);

/// Whether a peer of the worker is loading a tile as a relay for a task that is still reserved, or is about to.
/// This ends after twice the expected time, because the relay may have no room.
bool comes_through_relay(const State& state, const Worker& worker, TileId tile);

}  // namespace tessera::scheduler
