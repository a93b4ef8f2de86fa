// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// How much of a worker's memory incomplete results, and tiles fetched ahead, may occupy. Beyond these limits they
/// would evict tiles that are needed sooner.
namespace tessera::scheduler {

/// Whether a worker may begin with the result of a task, beside its other incomplete results. It thus works on one
/// block of the result at a time: as large as the policy allows, or as the program has planned.
bool has_room_for_result(const State& state, const Worker& worker, const Task& task);

/// The look-ahead limit: how much the tiles of a worker's reserved tasks may occupy, beside its incomplete results
/// [bytes].
std::size_t lookahead_limit(const State& state, const Worker& worker);

/// Whether one more task fits the look-ahead limit. A task is added as a whole or not at all, so it may exceed the
/// limit by half of what it adds.
bool may_look_ahead(const State& state, const Worker& worker, const Task& task);

/// What the tiles of a task occupy, each counted once [bytes].
std::size_t distinct_memory(const Task& task);

/// Whether a worker's memory can hold all tiles of a task at once. If not, it may never start there.
bool fits(const State& state, const Worker& worker, const Task& task);

}  // namespace tessera::scheduler
