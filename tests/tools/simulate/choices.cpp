// SPDX-License-Identifier: BSD-3-Clause
// What tessera-simulate reports about the library's choices: predicted times, explanations, and the cost of a choice.
#include <algorithm>

#include "laboratory.hpp"

namespace tessera::test::choices_cpp {
namespace {

TEST(SimulatedChoices, ArePredicted) {
  for (const auto& row : rows_of("--platform h200x4 --gpus 1 --routine gemm,syrk,trsm,potrf,getrf,geqrf --size 4096")) {
    const double seconds = row.at("median_s");
    EXPECT_NEAR(row.at("predicted_s"), seconds, 0.2 * seconds) << row.at("routine");
  }
  // The memory of the host limits what four GPUs copy in both directions.
  for (const auto& row : rows_of("--platform h200x4 --routine gemm,getrf --size 8192")) {
    const double seconds = row.at("median_s");
    EXPECT_NEAR(row.at("predicted_s"), seconds, 0.1 * seconds) << row.at("routine");
  }
  EXPECT_TRUE(row_of("--platform h200x4 --gpus 1 --routine posv --size 512").at("predicted_s").is_null());
}

TEST(SimulatedChoices, AreExplained) {
  for (const auto& call : rows_of("--platform h200x4 --routine trsm,gemm,potrf --size 3000x1000 --explain")) {
    EXPECT_TRUE(call.at("rehearsed"));
    ASSERT_EQ(call.at("next").size(), 3) << call;
    double before = 0;
    for (const auto& next : call.at("next")) {
      EXPECT_GE(next.at("predicted_s"), before);
      EXPECT_NE(next.at("bound"), "");
      EXPECT_GT(next.at("share"), 0);
      before = next.at("predicted_s");
    }
    EXPECT_GT(call.at("chosen").at("predicted_s"), 0);
  }
}

TEST(SimulatedChoices, AreExplainedForEveryRoutine) {
  const auto calls = rows_of("--platform h200x4 --routine all --size 512 --explain");
  EXPECT_GE(calls.size(), 15);
  for (const auto& call : calls) EXPECT_GT(call.at("chosen").at("tile_n"), 0) << call;
}

TEST(SimulatedChoices, AreComparedWithAlternatives) {
  const auto rows = rows_of("--platform h200x4 --gpus 2 --routine trsm --size 1024 --sweep");
  double best = rows.front().at("median_s");
  for (const auto& row : rows)
    if (row.contains("median_s")) best = std::min<double>(best, row.at("median_s"));
  const auto& regret = rows.back();
  EXPECT_EQ(rows.size(), 1 + 1 + 2 * 3 + 1) << "the choice, that of one GPU, three tiles on each, and the regret";
  EXPECT_EQ(regret.at("best").at("median_s"), best);
  EXPECT_DOUBLE_EQ(regret.at("regret"), rows.front().at("median_s").get<double>() / best);
}

TEST(SimulatedChoices, SizesMayDiffer) {
  const auto row = row_of("--platform h200x4 --gpus 1 --size 300x200x100");
  EXPECT_EQ(row.at("m"), 300);
  EXPECT_EQ(row.at("n"), 200);
  EXPECT_EQ(row.at("k"), 100);
  for (const char* wrong : {"300x", "x", "1x2x3x4", "-1", "12y"})
    EXPECT_EQ(simulate(std::string("--platform h200x4 --size ") + wrong).status, 2) << wrong;
}

}  // namespace
}  // namespace tessera::test::choices_cpp
