// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "state.hpp"

/// Which reserved task a worker starts, and when it waits for tiles instead.
namespace tessera::scheduler {

/// Whether a tile is on its way to a peer of the worker for a task that will start there: one that the peer has popped,
/// or reserved and prefetched. A tile that a peer requested for a task which was then stolen may never arrive: such a
/// request finds no room where memory is short.
bool awaited_by_a_peer(const State& state, const Worker& worker, TileId tile);

/// Takes the task that a worker runs next out of its reservation station: the first that has all its tiles. If there is
/// none, and the worker is idle: the first that waits for no peer, but if another does and this one's tiles are on
/// their way, only after some time. If all wait for peers, and no peer needs the tiles that are missing: the first.
/// @returns nothing if the worker should wait
std::optional<ReservationStation::Slot> next_task(const State& state, Worker& worker, double now);

}  // namespace tessera::scheduler
