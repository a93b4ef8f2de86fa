// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <exception>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <tessera/error.hpp>

namespace tessera::common {

/// The number of threads that can be created, and why there can be no more.
struct ThreadSupply {
  std::ptrdiff_t threads = 0;
  std::string limit;  ///< empty if all could be created
};

/// Tries to create threads that exist at the same time, and ends them.
inline ThreadSupply try_threads(std::ptrdiff_t count) {
  ThreadSupply supply;
  std::latch enough(1);
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) < count) threads.emplace_back([&] { enough.wait(); });
  } catch (const std::exception& error) {
    supply.limit = error.what();
  }
  enough.count_down();
  supply.threads = std::ssize(threads);
  return supply;
}

/// Checks that `count` threads can be created by creating them, because StarPU ends the process if it cannot create its
/// threads.
/// @throws RuntimeError if they cannot be created
inline void require_threads(std::ptrdiff_t count) {
  if (const auto supply = try_threads(count); supply.threads < count)
    throw RuntimeError("StarPU cannot start: it needs " + std::to_string(count) + " threads, the system allows " +
                       std::to_string(supply.threads) + ": " + supply.limit);
}

}  // namespace tessera::common
