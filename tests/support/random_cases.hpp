// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

#include <tessera/runtime.hpp>

namespace tessera::test {

/// The value of an environment variable as a number.
inline Index variable(const char* name, Index missing) {
  const char* text = std::getenv(name);
  return text == nullptr ? missing : std::atoll(text);
}

/// The seeds of random programs.
struct RandomCases {
  Index first, count;
};

/// TESSERA_TEST_SEED is the first seed, TESSERA_TEST_CASES the number of programs for each type. The default is smaller
/// with GPUs, which are slower on such small tiles.
/// @param fewer  divides the number, for programs that take longer
inline RandomCases random_cases(Index fewer = 1) {
  return {variable("TESSERA_TEST_SEED", 1), variable("TESSERA_TEST_CASES", gpu_count() == 0 ? 1000 : 250) / fewer};
}

}  // namespace tessera::test
