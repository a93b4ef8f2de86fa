// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tessera/error.hpp>

namespace tessera::detail {

/// Checks that `count` threads can be created by creating them, because StarPU ends the process if it cannot create its
/// threads.
/// @throws RuntimeError if they cannot be created
inline void require_threads(std::ptrdiff_t count) {
  std::latch enough(1);
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) < count) threads.emplace_back([&] { enough.wait(); });
  } catch (const std::system_error& error) {
    enough.count_down();
    throw RuntimeError("StarPU cannot start: it needs " + std::to_string(count) + " threads, the system allows " +
                       std::to_string(threads.size()) + ": " + error.what());
  }
  enough.count_down();
}

}  // namespace tessera::detail
