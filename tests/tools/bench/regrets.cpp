// SPDX-License-Identifier: BSD-3-Clause
// What tessera-bench --sweep says of the library's choices.
#include "tools/workload/regrets.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/workload/routine.hpp"

namespace tessera::test::regrets_cpp {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::unique_ptr<bench::Routine> gemm = bench::blas_routine(blas::Routine::gemm);

bench::Result timed(double seconds, Index tile, bool passes = true) {
  bench::Result r;
  r.routine = gemm.get();
  r.problem.m = r.problem.n = r.problem.k = 512;
  r.tile_m = r.tile_n = r.tile_k = tile;
  r.timing = bench::Timing{.first = seconds, .median = seconds, .best = seconds};
  r.check = bench::Verdict{.error = passes ? 0.0 : 1.0, .bound = 0.5};
  return r;
}

/// @param results  that of the choice, and those of alternatives
bench::Regrets regrets_of(std::initializer_list<bench::Result> results) {
  bench::Regrets regrets(2);
  for (const auto& result : results) regrets.add(result, {2, &result == results.begin() ? 0 : result.tile_m});
  return regrets;
}

nlohmann::ordered_json only_row(const bench::Regrets& regrets) {
  const auto rows = regrets.json();
  EXPECT_EQ(rows.size(), 1);
  return rows.front();
}

TEST(Regrets, CompareTheChoiceWithTheFastest) {
  const auto regrets = regrets_of({timed(3, 256), timed(4, 512), timed(2, 1024)});
  const auto row = only_row(regrets);
  EXPECT_DOUBLE_EQ(row.at("regret"), 1.5);
  EXPECT_EQ(row.at("chosen").at("tile"), 256);
  EXPECT_EQ(row.at("best").at("tile"), 1024);
  EXPECT_THAT(regrets.lines().back(), HasSubstr("geometric mean 1.500, at most 1.500"));
}

TEST(Regrets, IgnoreTheTimesOfWrongResults) {
  const auto row = only_row(regrets_of({timed(3, 256), timed(1, 512, false), timed(2, 1024)}));
  EXPECT_DOUBLE_EQ(row.at("regret"), 1.5);
  EXPECT_EQ(row.at("best").at("tile"), 1024);
}

TEST(Regrets, OfAWrongChoiceAreNotKnown) {
  const auto regrets = regrets_of({timed(1, 256, false), timed(2, 512)});
  const auto row = only_row(regrets);
  EXPECT_TRUE(row.at("regret").is_null());
  EXPECT_EQ(row.at("best").at("tile"), 512);
  EXPECT_THAT(regrets.lines().back(), ContainsRegex("FAILED .* 512 +-$"));
}

TEST(Regrets, OfWrongResultsHaveNoBest) {
  const auto regrets = regrets_of({timed(1, 256, false), timed(2, 512, false)});
  const auto row = only_row(regrets);
  EXPECT_TRUE(row.at("regret").is_null());
  EXPECT_TRUE(row.at("best").is_null());
  EXPECT_THAT(regrets.lines().back(), ContainsRegex("FAILED .* - +- +- +-$"));
}

TEST(Regrets, OfACallWhoseChoiceCannotBeRunAreNotKnown) {
  bench::Regrets regrets(2);
  regrets.add(timed(1, 256), {1, 0});
  regrets.add(timed(2, 512), {2, 512});
  EXPECT_TRUE(regrets.json().empty());
}

TEST(Table, HasRoomForLongNamesAndSizes) {
  const auto lu = bench::lu_nopiv();
  auto long_one = timed(1, 256);
  long_one.routine = lu.get(), long_one.problem.n = 12345678;
  bench::Regrets regrets(2);
  for (const auto& result : {timed(1, 256), long_one}) regrets.add(result, {2, 0});
  const auto lines = regrets.lines();
  const auto& head = lines.at(1);
  for (const auto& row : {lines.at(2), lines.at(3)})
    EXPECT_EQ(head.find("chosen [s]") + 10, row.find("1.000") + 5) << head << '\n' << row;
}

}  // namespace
}  // namespace tessera::test::regrets_cpp
