// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include <tessera/types.hpp>

#include "no_signals.hpp"

namespace tessera::common {

/// Calls `columns(first, last)` for ranges that cover n columns. Uses several threads if the columns are large, because
/// one core cannot saturate the host's memory.
template <typename Columns>
void for_columns(Index n, double bytes, Columns columns) {
  constexpr double worth_a_thread = 32e6;
  const auto most = std::min<Index>({8, std::max(1U, std::thread::hardware_concurrency()), std::max<Index>(1, n)});
  const auto threads = std::clamp<Index>(static_cast<Index>(bytes / worth_a_thread), 1, most);
  Index done = 0;  // columns that are assigned to other threads
  std::vector<std::jthread> others;
  try {
    const NoSignals in_the_threads;
    for (Index t = 1; t < threads; t++) {
      const Index next = n * t / threads;
      others.emplace_back(columns, done, next);
      done = next;
    }
  } catch (const std::exception&) {  // no more threads: this thread takes the remaining columns
  }
  columns(done, n);
}

}  // namespace tessera::common
