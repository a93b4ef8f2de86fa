// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::bench {

/// Divides [0, count) into parts of at least `grain` and calls body(begin, end) for them on all cores at once.
template <typename Body>
void parallel_for(Index count, Index grain, Body body) {
  const Index cores = std::max<Index>(1, std::thread::hardware_concurrency());
  const Index parts = std::clamp<Index>(count / std::max<Index>(1, grain), 1, cores);
  std::vector<std::jthread> threads;
  for (Index part = 1; part < parts; part++)
    threads.emplace_back([=, &body] { body(part * count / parts, (part + 1) * count / parts); });
  body(Index{0}, count / parts);
}

}  // namespace tessera::bench
