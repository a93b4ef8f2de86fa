// SPDX-License-Identifier: BSD-3-Clause
// Traffic, balance and utilization under several policies on described machines, with the program tessera-simulate.
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>

#include "laboratory.hpp"

namespace tessera::test {
namespace {

using ::testing::DoubleNear;

/// Bytes copied for a triangle of doubles of order n. Diagonal tiles are copied in panels of `panel` columns.
double triangle_bytes(double n, double panel) { return 8 * (n * n + n * panel) / 2; }

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// The sum of the tasks' times does not depend on the policy.
TEST(Simulation, RunsAllTasksUnderEveryPolicy) {
  const auto rows = rows_of(
      "--platform summit-node --routine gemm,syrk,trmm,trsm --size 4096 --tile 1024 --placement scheduler --policy "
      "tessera,dmda,dmdar,dmdas,lws,ws,eager,prio,random,heteroprio");
  ASSERT_EQ(rows.size(), 40);
  for (std::size_t i = 0; i < rows.size(); i++) {
    const auto& row = rows[i];
    const auto what = row.at("routine").get<std::string>() + " under " + row.at("policy").get<std::string>();
    const double busy = sum(per_gpu(row, "busy"));
    EXPECT_THAT(busy, DoubleNear(sum(per_gpu(rows[i - i % 10], "busy")), 1e-9 * busy)) << what;
    EXPECT_GT(busy, 0) << what;
    EXPECT_GE(row.at("bytes_h2d"), row.at("bytes_min_h2d")) << what;
    EXPECT_EQ(row.at("bytes_d2h"), row.at("routine") == "syrk" ? triangle_bytes(4096, 128) : 8.0 * 4096 * 4096) << what;
  }
}

TEST(Simulation, GivesTheSameBytesTwice) {
  const std::string arguments =
      "--platform makalu --routine all --type d,z --size 3000 --tile 1024 --policy tessera,lws,dmdas --json -";
  const auto first = simulate(arguments + " --jobs 1", 100), second = simulate(arguments + " --jobs 2", 100);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.err, second.err);  // the table
  EXPECT_FALSE(first.out.empty());
}

TEST(Traffic, IsCompulsoryForAProductThatFits) {
  const auto row = row_of("--platform h200x4 --size 16384 --policy tessera");
  EXPECT_EQ(row.at("bytes_h2d"), row.at("bytes_min_h2d"));
}

// A GPU that requests a tile from the host while a peer fetches it would copy the tile a second time.
TEST(Traffic, CopiesEachTileOfATriangleOnce) {
  const double whole = 8.0 * 16384 * 16384, triangle = triangle_bytes(16384, 256);
  const auto rows = rows_of("--platform h200x4 --routine symm,syrk,syr2k --size 16384 --tile 2048 --policy tessera");
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].at("bytes_h2d"), triangle + 2 * whole);
  EXPECT_EQ(rows[1].at("bytes_h2d"), whole + triangle);
  EXPECT_EQ(rows[2].at("bytes_h2d"), 2 * whole + triangle);
}

/// The bytes that each GPU of h200x4 loads from the host in a product whose tasks the policy places.
std::vector<double> loaded(const char* options) {
  setenv("TESSERA_SCHED", options, 1);
  const auto row = row_of("--platform h200x4 --size 16384 --tile 2048 --cpus 0 --placement scheduler --policy tessera");
  unsetenv("TESSERA_SCHED");
  EXPECT_EQ(row.at("bytes_h2d"), row.at("bytes_min_h2d"));
  return per_gpu(row, "h2d");
}

// The GPU that is ahead of the others would load most operands.
TEST(Traffic, IsBalancedByRelays) {
  const auto most = [](const std::vector<double>& bytes) { return *std::ranges::max_element(bytes) / sum(bytes); };
  const double balanced = most(loaded("relay"));
  EXPECT_LT(balanced, 0.3);
  EXPECT_LT(balanced, most(loaded("-relay")));
}

TEST(Traffic, IsNearlyCompulsoryForAllRoutinesThatFit) {
  const auto rows = rows_of(
      "--platform h200x4 --routine gemm,gemmt,symm,syrk,syr2k,trmm,trsm --size 8192,16384,32768 --policy tessera", 120);
  ASSERT_EQ(rows.size(), 7 * 3);
  for (const auto& row : rows) {
    const bool has_whole_inputs =
        row.at("routine") == "gemmt";  // both inputs are square, and C has large diagonal tiles
    EXPECT_LE(row.at("bytes_h2d"), (has_whole_inputs ? 1.035 : 1.015) * row.at("bytes_min_h2d").get<double>())
        << row.at("routine") << ' ' << row.at("n");
  }
}

/// Bytes over the host links of everest in both directions. A copy between GPU 0 and another GPU takes two host links.
double bytes_over_host_links(const nlohmann::json& row) {
  double bytes = 0;
  for (const auto& link : row.at("links")) {
    const int from = link.at("from"), to = link.at("to");
    const bool between_peers = from > 0 && to > 0, from_or_to_host = from < 0 || to < 0;
    bytes += link.at("bytes").get<double>() * (between_peers ? 0 : from_or_to_host ? 1 : 2);
  }
  return bytes;
}

// Table V of the BLASX paper lists the megabytes of its own runs on this machine, over host links in both directions.
TEST(Traffic, OnEverestIsThreeQuartersOfThatOfBlasx) {
  const std::map<std::string, double> blasx{{"gemm", 16125}, {"trsm", 9948},  {"syr2k", 16155},
                                            {"symm", 14704}, {"trmm", 11684}, {"syrk", 10224}};
  const auto rows = rows_of(
      "--platform everest --routine gemm,trsm,syr2k,symm,trmm,syrk --size 16384 --tile 1024 --policy tessera", 60);
  ASSERT_EQ(rows.size(), blasx.size());
  for (const auto& row : rows) {
    const std::string routine = row.at("routine");
    EXPECT_LE(bytes_over_host_links(row), 0.75e6 * blasx.at(routine)) << routine;
    const auto from_gpus = per_gpu(row, "d2d_in");
    ASSERT_EQ(from_gpus.size(), 3);
    EXPECT_GT(from_gpus[1], 0.1e9) << routine;
    EXPECT_GT(from_gpus[2], 0.1e9) << routine;
  }
  // GPU 0 has no peer. It gets other GPUs' results through the host; a product has none.
  EXPECT_EQ(per_gpu(rows[0], "d2d_in")[0], 0);
}

// With less look-ahead, links are idle while a GPU computes. With more, tiles are evicted before their use. The memory
// of the host limits what all GPUs copy.
TEST(OutOfCore, GPUsComputeThreeQuartersOfTheTime) {
  const auto row = row_of("--platform h200x4 --size 32768 --gpu-memory 1536 --policy tessera");
  const auto busy = per_gpu(row, "busy");
  EXPECT_GE(sum(busy) / 4, 0.75 * row.at("median_s").get<double>()) << ::testing::PrintToString(busy);
}

// A result that is only written must not stay on a GPU longer than a result that is also read.
TEST(OutOfCore, ResultsThatAreNotReadCostNoMore) {
  for (const char* machine : {"--platform h200x4 --gpus 1 --size 16384 --gpu-memory 1536",
                              "--platform h200x4 --gpus 1 --size 32768 --gpu-memory 6144",
                              "--platform h200x4 --size 32768 --gpu-memory 1536"}) {
    const std::string arguments = std::string(machine) + " --policy tessera --beta ";
    const auto read = row_of(arguments + "0.3"), not_read = row_of(arguments + "0");
    EXPECT_LE(not_read.at("bytes_h2d"), 0.85 * read.at("bytes_h2d").get<double>()) << machine;
    EXPECT_LE(not_read.at("median_s"), read.at("median_s")) << machine;
  }
}

// In a solve, tasks that become ready late are the most urgent. GPUs that first ran all previously reserved tasks would
// be idle for a quarter of the time.
TEST(Urgency, UrgentTasksOfASolvePassReservedOnes) {
  const auto row = row_of("--platform h200x4 --routine trsm --size 32768 --tile 4096 --policy tessera");
  const auto busy = per_gpu(row, "busy");
  EXPECT_GE(sum(busy) / 4, 0.76 * row.at("median_s").get<double>()) << ::testing::PrintToString(busy);
}

// Tiles are so large that GPUs do not end together: fewer tasks are worth more.
TEST(Balance, OnMakaluKeepsTheGpusBusy) {
  const auto row = row_of("--platform makalu --size 16384 --policy tessera");
  const auto busy = per_gpu(row, "busy");
  ASSERT_EQ(busy.size(), 4);
  EXPECT_GE(sum(busy) / 4, 0.92 * row.at("median_s").get<double>()) << ::testing::PrintToString(busy);
}

// With so few tiles, a theft delays a task that its victim would start as soon as the first tiles arrive.
TEST(FewTiles, StealingMakesNoCallSlower) {
  const auto seconds = [](const std::string& arguments, const char* options) -> double {
    setenv("TESSERA_SCHED", options, 1);
    const auto row = row_of(arguments + " --policy tessera");
    unsetenv("TESSERA_SCHED");
    return row.at("median_s");
  };
  for (const std::string call : {"--platform summit-node --gpus 3 --routine syrk --size 6000 --tile 2048",
                                 "--platform summit-node --gpus 3 --routine syrk --size 12000 --tile 4096",
                                 "--platform summit-node --gpus 4 --routine potrf --size 4096 --tile 4096",
                                 "--platform everest --gpus 3 --routine potrf --size 4096 --tile 4096",
                                 "--platform h200x4 --gpus 2 --routine potrf --size 4096 --tile 2048"})
    EXPECT_LE(seconds(call, ""), 1.02 * seconds(call, "-steal")) << call;
}

}  // namespace
}  // namespace tessera::test
