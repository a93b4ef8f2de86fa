// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <tessera/runtime.hpp>

#include "common/not_copyable.hpp"

/// The counts behind `statistics`. All functions except `count_submitted` need a running StarPU.
namespace tessera::runtime {

/// Counts a tile task.
void count_submitted();

/// Counts bytes that a thread has copied between memory nodes itself, without StarPU.
void count_copied(int from_node, int to_node, std::uint64_t bytes);

/// The number of products that threads now compute without tasks. A wait for all work must include them.
inline std::atomic<int> products_without_tasks = 0;
/// The products of the calling thread among these. A thread that waits finds a count above 0 only in a signal handler
/// that has interrupted a product, or after a handler has jumped out of one.
inline thread_local int products_of_this_thread = 0;
struct OneWithoutTasks : common::NotCopyable {
  OneWithoutTasks() { products_without_tasks++, products_of_this_thread++; }
  ~OneWithoutTasks() { products_without_tasks--, products_of_this_thread--; }
};

/// Bytes that were copied since the process began, by source and target memory node.
using BytesByLink = std::map<std::pair<int, int>, std::uint64_t>;
BytesByLink bytes_by_link();

/// Sets the counts of `read_counters` to zero.
void reset_counters();

/// The counts since the last reset.
/// @param gpu_nodes  the memory nodes of the GPUs; links name a GPU by its position among them
Statistics read_counters(const std::vector<unsigned>& gpu_nodes);

}  // namespace tessera::runtime
