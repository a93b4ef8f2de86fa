// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

#include "common/failure.hpp"

namespace tessera::test {

/// Whether no tile is marked as failed any more. StarPU may end tiles shortly after their last task.
inline bool failures_end() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (common::failed_tiles::exist && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return !common::failed_tiles::exist;
}

}  // namespace tessera::test
