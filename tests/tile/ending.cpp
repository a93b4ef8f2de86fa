// SPDX-License-Identifier: BSD-3-Clause
// Tiles that end.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tessera/sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <tessera/matrix.hpp>

namespace tessera::test::ending_cpp {
namespace {

std::atomic<int> forgotten = 0;

}  // namespace

/// The function of this program is found before that of the policy.
extern "C" void tessera_sched_forget(starpu_data_handle_t tile) {
  static const auto of_policy =
      reinterpret_cast<decltype(&tessera_sched_forget)>(dlsym(RTLD_NEXT, "tessera_sched_forget"));
  of_policy(tile);
  forgotten++;
}

namespace {

constexpr Index n = 6, tile = 3;
constexpr int tiles = 4;

TEST(EndingTiles, AreForgottenByThePolicy) {
  std::vector<double> memory(n * n);
  ASSERT_EQ(starpu_task_wait_for_all(), 0);  // tiles of earlier tests end with their last tasks
  forgotten = 0;
  { const Matrix<double> A(memory.data(), n, n, n, {tile, tile}); }
  EXPECT_EQ(forgotten, tiles);
  { const Matrix<double> B(n, n, {tile, tile}); }
  for (int i = 0; i < 10000 && forgotten < 2 * tiles; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(forgotten, 2 * tiles);
}

}  // namespace
}  // namespace tessera::test::ending_cpp
