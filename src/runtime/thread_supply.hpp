// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/error.hpp>

#include "common/thread_supply.hpp"

namespace tessera::detail {

/// Checks that `count` threads can be created by creating them, because StarPU ends the process if it cannot create its
/// threads.
/// @throws RuntimeError if they cannot be created
inline void require_threads(std::ptrdiff_t count) {
  if (const auto supply = try_threads(count); supply.threads < count)
    throw RuntimeError("StarPU cannot start: it needs " + std::to_string(count) + " threads, the system allows " +
                       std::to_string(supply.threads) + ": " + supply.limit);
}

}  // namespace tessera::detail
