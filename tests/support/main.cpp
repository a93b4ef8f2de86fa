// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "machine/gpu.hpp"

/// Runs the tests. If TESSERA_TEST_NEEDS_GPUS asks for more GPUs than can be used, returns the status that ctest
/// reports as skipped.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  constexpr int skipped = 77;
  if (const char* text = std::getenv("TESSERA_TEST_NEEDS_GPUS")) {
    const int needed = std::atoi(text);
    const auto found = tessera::gpu::probe(needed);
    if (std::ssize(found.usable) < needed) {
      std::cout << "skipped: needs " << needed << " GPUs, " << found.usable.size() << " can be used\n";
      for (const auto& reason : found.unusable) std::cout << reason << '\n';
      return skipped;
    }
  }
  return RUN_ALL_TESTS();
}
