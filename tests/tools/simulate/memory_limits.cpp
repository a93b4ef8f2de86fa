// SPDX-License-Identifier: BSD-3-Clause
// GPUs with very little memory, or with kernels of almost no time: every call must finish.
#include "one_gpu.hpp"

namespace tessera::test {
namespace {

constexpr int tile_mib = 8;  // 1024² doubles

class MemoryOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tiles, MemoryOf, ::testing::Values(3, 5, 12), ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(MoreTiles, MemoryOf, ::testing::Values(4, 6, 8, 20), ::testing::PrintToStringParamName());

TEST_P(MemoryOf, AFewTilesIsEnough) {
  for (const char* machine : {"h200x4 --gpus 1", "h200x4", "everest"}) {
    const auto ended = simulate(
        "--policy tessera --size 3072,4096 --tile 1024 --brief --routine gemm,gemmt,symm,syrk,syr2k,trmm,trsm "
        "--platform " +
            std::string(machine) + " --gpu-memory " + std::to_string(tile_mib * GetParam()),
        70);
    EXPECT_EQ(ended.status, 0) << machine << ' ' << ended.out << ended.err.substr(0, 2000);
  }
}

TEST(LittleMemory, InTheDescriptionIsEnough) {
  auto little = machine(1);
  little["kinds"]["gpu"]["memory_gb"] = 0.01;
  for (const char* routine : {"gemm", "potrf"})
    EXPECT_GT(row_on(little, std::string("--size 1024 --routine ") + routine).at("median_s"), 0) << routine;
}

TEST(FastGpus, AreLimitedByTheirLinks) {
  const double expected = 3 * operand / 10e9;
  for (const char* routine : {"gemm", "syr2k"}) {
    const double time = row_on(machine(1e-9), std::string("--size 2048 --routine ") + routine).at("median_s");
    EXPECT_GT(time, 0.4 * expected) << routine;
    EXPECT_LT(time, 2 * expected) << routine;
  }
}

}  // namespace
}  // namespace tessera::test
