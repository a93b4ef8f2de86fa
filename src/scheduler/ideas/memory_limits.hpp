// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "state.hpp"

/// Limits the memory of a worker that incomplete results and tiles fetched ahead may occupy. Beyond these limits, they
/// would evict tiles that are needed sooner.
namespace tessera::scheduler {

/// Whether a worker may begin the result of a task in addition to its other incomplete results. The worker thus works
/// on one block of the result at a time, as large as the policy allows or the program has planned.
bool has_room_for_result(const State& state, const Worker& worker, const Task& task);

/// The look-ahead limit: the memory that the tiles of a worker's reserved tasks may occupy in addition to its
/// incomplete results [bytes].
std::size_t lookahead_limit(const State& state, const Worker& worker);

/// Whether one more task fits within the look-ahead limit. Tasks are added only as a whole, so a task may exceed the
/// limit by half of what it adds.
bool may_look_ahead(const State& state, const Worker& worker, const Task& task);

/// Whether a worker's memory could hold the tiles of all unfinished tasks, if all tiles had the average size of this
/// task's. If it could not, fetches evict tiles that must be fetched again.
bool all_fit(const State& state, const Worker& worker, const Task& task);

/// The memory that the tiles of a task occupy, counting each tile once [bytes].
std::size_t distinct_memory(const Task& task);

/// Whether a worker's memory can hold all tiles of a task at once. If not, the task may never start there.
bool fits(const State& state, const Worker& worker, const Task& task);

}  // namespace tessera::scheduler
