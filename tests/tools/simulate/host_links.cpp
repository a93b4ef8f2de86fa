// SPDX-License-Identifier: BSD-3-Clause
// Simulated copies over half-duplex links, and through staging buffers.
#include "one_gpu.hpp"

namespace tessera::test {
namespace {

nlohmann::json in_half_duplex(nlohmann::json machine) {
  machine["host_links"][0]["half_duplex"] = true;
  return machine;
}

nlohmann::json with_staging(nlohmann::json machine, double rate, double core_rate) {
  machine["staging"] = {{"gbps", rate}, {"core_gbps", core_rate}};
  return machine;
}

// Three operands come in and one goes out. On the full-duplex link, most of it goes out while others come in.
TEST(HalfDuplex, IsSharedByBothDirections) {
  const auto fast = machine(0.001);
  EXPECT_GT(seconds(in_half_duplex(fast), 512), 4 * operand / 10e9);
  EXPECT_LT(seconds(in_half_duplex(fast), 512), 1.1 * 4 * operand / 10e9);
  EXPECT_LT(seconds(fast, 512), 0.95 * 4 * operand / 10e9);
}

// The last tile is computed when all inputs have arrived, and then goes out.
TEST(SmallCalls, KeepTheLinkBusy) {
  constexpr double elements = 512 * 512, tile = 8 * elements / 10e9, kernel = 0.001 / 8;
  const double in = 2 * 1024 * 512 * 8 / 10e9 + 2.5 * tile;  // half of each tile on the diagonal
  const double took = row_on(machine(1), "--routine syrk --size 1024 --tile 512").at("median_s");
  EXPECT_GT(took, in + kernel + tile / 2);
  EXPECT_LT(took, 1.1 * (in + kernel + tile));
}

TEST(HalfDuplex, CountsInTheLimitOfTheMachine) {
  const auto limit = [](const nlohmann::json& row) { return row.at("limit_parts_s").at("both").get<double>(); };
  const auto fast = machine(0.001);
  EXPECT_DOUBLE_EQ(limit(product(in_half_duplex(fast), 512)), 2 * limit(product(fast, 512)));
}

TEST(HalfDuplex, CanBeDenied) {
  auto both = in_half_duplex(machine(0.001));
  both["host_links"][0]["half_duplex"] = false;
  EXPECT_DOUBLE_EQ(seconds(both, 256), seconds(machine(0.001), 256));
}

TEST(Staging, CopiesBothDirectionsAtTheRateOfTheHost) {
  const auto slow = with_staging(machine(0.001), 5, 1e6);
  EXPECT_GT(seconds(slow, 1024, "--memory pageable"), 4 * operand / 5e9);
  EXPECT_LT(seconds(slow, 1024, "--memory pageable"), 1.1 * 4 * operand / 5e9);
}

TEST(Staging, IsNamedInTheResult) {
  const auto slow = with_staging(machine(0.001), 5, 5);
  EXPECT_EQ(product(slow, 1024, "--memory pageable").at("memory"), "pageable");
  EXPECT_EQ(product(slow, 1024).at("memory"), "pinned");
}

TEST(Staging, IsForPageableMemoryOnly) {
  EXPECT_DOUBLE_EQ(seconds(with_staging(machine(0.001), 5, 5), 1024), seconds(machine(0.001), 1024));
}

TEST(DeviceMemory, IsWhereResultsStay) {
  for (const int gpus : {1, 2})
    for (const char* routine : {"gemm", "syrk", "trsm", "potrf"}) {
      const auto row = row_of("--platform h200x4 --policy tessera --memory device --size 1024 --tile 256 --gpus " +
                              std::to_string(gpus) + " --routine " + routine);
      EXPECT_EQ(row.at("memory"), "device");
      for (const char* bytes : {"bytes_h2d", "bytes_d2h", "bytes_min_h2d"}) EXPECT_EQ(row.at(bytes), 0) << bytes;
      EXPECT_EQ(row.at("bytes_d2d") > 0, gpus > 1) << routine;
    }
}

TEST(SpreadMatrices, StayOnTheirGpus) {
  for (const int gpus : {1, 2})
    for (const char* routine : {"gemm", "syrk", "trsm", "potrf"}) {
      const auto row = row_of("--platform h200x4 --policy tessera --memory spread --size 1024 --tile 256 --gpus " +
                              std::to_string(gpus) + " --routine " + routine);
      EXPECT_EQ(row.at("memory"), "spread");
      for (const char* bytes : {"bytes_h2d", "bytes_d2h", "bytes_min_h2d"}) EXPECT_EQ(row.at(bytes), 0) << bytes;
      EXPECT_EQ(row.at("bytes_d2d") > 0, gpus > 1) << routine;
    }
}

// A core takes 2 MiB / 1 GB/s for the first buffer of each tile.
TEST(Staging, BeginsWithACoreThatFillsABuffer) {
  const auto quick = with_staging(machine(0.001), 1e6, 1e6), slow = with_staging(machine(0.001), 1e6, 1);
  const double later = seconds(slow, 1024, "--memory pageable") - seconds(quick, 1024, "--memory pageable");
  constexpr double buffer = 2 << 20;
  EXPECT_GT(later, 0.99 * 12 * buffer / 1e9);  // 12 tiles come in
  EXPECT_LT(later, 16 * buffer / 1e9);
}

// The buffers are contiguous, whatever the columns of a tile are.
TEST(Staging, MakesColumnsOnePiece) {
  auto columns = with_staging(machine(0.001), 1e6, 1e6);
  for (const char* direction : {"in", "out"})
    for (const char* when : {"idle", "computing"})
      columns["kinds"]["gpu"]["columns_gbps"][direction][when] = {{8192, 2}, {1 << 20, 10}};
  EXPECT_NEAR(seconds(columns, 1024, "--memory pageable"), seconds(machine(0.001), 1024), 1e-6);
}

}  // namespace
}  // namespace tessera::test
