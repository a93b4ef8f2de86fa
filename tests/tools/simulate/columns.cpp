// SPDX-License-Identifier: BSD-3-Clause
// Simulated copies depend on the length of the columns in host memory.
#include "one_gpu.hpp"

namespace tessera::test {
namespace {

/// Rates of columns of 8 KiB in GB/s, on links of 10 GB/s. Pieces of 1 MiB reach the rate of the link.
struct Rates {
  double idle, computing;
};

nlohmann::json with_columns(nlohmann::json machine, const char* direction, Rates rates) {
  const auto curve = [](double rate) { return nlohmann::json{{8192, rate}, {1 << 20, 10}}; };
  auto& columns = machine["kinds"]["gpu"]["columns_gbps"];
  for (const char* each : {"in", "out"}) columns[each] = {{"idle", curve(10)}, {"computing", curve(10)}};
  columns[direction] = {{"idle", curve(rates.idle)}, {"computing", curve(rates.computing)}};
  return machine;
}

// Three operands come in and one goes out; the last tile of C goes out when all others have.
TEST(Columns, AreCopiedAtTheirRate) {
  const auto fast = machine(0.001);
  const double by_columns = seconds(with_columns(fast, "in", {5, 5}), 1024);
  EXPECT_GT(by_columns, 3 * operand / 5e9);
  EXPECT_LT(by_columns, 1.1 * (3 * operand / 5e9 + operand / 4 / 10e9));
  EXPECT_LT(seconds(fast, 1024), 0.7 * by_columns);
}

// A tile as tall as the matrix is a single piece.
TEST(Columns, OfAContiguousTileAreOnePiece) {
  const auto fast = machine(0.001);
  EXPECT_DOUBLE_EQ(seconds(with_columns(fast, "in", {5, 5}), 2048), seconds(fast, 2048));
}

TEST(Columns, HaveRatesOfTheirOwnInEachDirection) {
  const auto fast = machine(0.001);
  const double in = seconds(with_columns(fast, "in", {2, 2}), 1024),
               out = seconds(with_columns(fast, "out", {2, 2}), 1024);
  EXPECT_GT(in, 3 * operand / 2e9);
  EXPECT_GT(out, operand / 2e9);
  EXPECT_LT(out, 3 * operand / 2e9);
}

// Kernels of 1 ms take about as long as the copies, so the GPU computes part of the time.
TEST(Columns, AreSlowOnlyWhileTheGPUComputes) {
  const auto often = machine(1), hardly = machine(0.001);
  const Rates beside{10, 2};
  EXPECT_GT(seconds(with_columns(often, "in", beside), 1024), 1.2 * seconds(often, 1024));
  EXPECT_LT(seconds(with_columns(often, "in", beside), 1024), 0.9 * seconds(with_columns(often, "in", {2, 2}), 1024));
  EXPECT_LT(seconds(with_columns(hardly, "in", beside), 1024), 1.02 * seconds(hardly, 1024));
}

TEST(Columns, DoNotChangeTheBytes) {
  const auto fast = machine(0.001);
  const auto slowed = product(with_columns(fast, "in", {2, 2}), 1024), plain = product(fast, 1024);
  EXPECT_EQ(slowed.at("bytes_h2d"), plain.at("bytes_h2d"));
  EXPECT_EQ(slowed.at("bytes_d2h"), plain.at("bytes_d2h"));
}

}  // namespace
}  // namespace tessera::test
