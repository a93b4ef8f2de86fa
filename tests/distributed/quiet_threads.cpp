// SPDX-License-Identifier: BSD-3-Clause
// The threads that start with a Grid, those of StarPU, StarPU-MPI, MPI and Tessera, take no signals meant for the
// program.
#include <string>
#include <vector>

#include "support/signals.hpp"
#include "whole.hpp"

namespace tessera::test {
namespace {

TEST(QuietThreads, AreThoseOfAGrid) {
  const auto grid = test::grid();
  EXPECT_GT(threads_now().size(), 2U) << "a worker, and the thread that polls the network";
  EXPECT_EQ(threads_that_take_signals(), std::vector<std::string>());
}

}  // namespace
}  // namespace tessera::test
