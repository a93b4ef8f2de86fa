// SPDX-License-Identifier: BSD-3-Clause
#include "scenario.hpp"

/// Runs the scenario that this process was started for; if there is none, runs the tests.
int main(int argc, char** argv) {
  if (const auto status = tessera::test::Scenario::of_this_process(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  constexpr int skipped = 77;
  if (const char* needed = std::getenv("TESSERA_TEST_NEEDS_GPUS"); needed != nullptr)
    if (!std::filesystem::exists("/dev/nvidia" + std::to_string(std::atoi(needed) - 1))) return skipped;
  return RUN_ALL_TESTS();
}
