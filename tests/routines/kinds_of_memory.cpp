// SPDX-License-Identifier: BSD-3-Clause
#include "support/kinds_of_memory.hpp"

#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

TEST(KindsOfMemory, GiveTheSameResults) {
  expect_right_with_all_kinds_of_memory(
      [](const auto& routine, const auto& arguments) { routine.on_pointers(arguments); });
}

}  // namespace
}  // namespace tessera::test
