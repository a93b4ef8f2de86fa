// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "state.hpp"

/// Which reserved task a worker starts, and when it waits for tiles instead.
namespace tessera::scheduler {

/// Whether a tile is on its way to a peer of the worker for a task that will start there, because the peer has popped
/// the task, or reserved and prefetched it. Other requests do not count: if the task was stolen and memory is short,
/// the tile may never arrive.
bool awaited_by_a_peer(const State& state, const Worker& worker, TileId tile);

/// Takes the task that a worker runs next out of its reservation station. In order of preference:
///  1. the first task whose tiles have all arrived; among the last chains, that of the longest (see `is_last_chain`);
///  2. if the worker is idle, the first task that does not wait for a peer. If its missing tiles are on their way and
///     another task waits for a peer, only after a delay;
///  3. if all tasks wait for peers, and no peer needs the missing tiles of the first task, that task.
/// @returns  empty if the worker should wait
std::optional<ReservationStation::Slot> next_task(const State& state, Worker& worker, double now);

}  // namespace tessera::scheduler
