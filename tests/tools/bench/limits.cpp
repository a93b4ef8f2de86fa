// SPDX-License-Identifier: BSD-3-Clause
// The lower bounds of a call's time that tessera-bench prints.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/process.hpp"
#include "tools/workload/result.hpp"

namespace tessera::test {
namespace {

using bench::limit_parts;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LimitParts, AreTheTimesOfArithmeticAndCopies) {
  const auto parts = limit_parts(60, {.in = 30, .out = 10}, {.flops = 20, .in = 5, .out = 2, .both = 6});
  EXPECT_DOUBLE_EQ(parts.arithmetic, 3);
  EXPECT_DOUBLE_EQ(parts.in, 6);
  EXPECT_DOUBLE_EQ(parts.out, 5);
  EXPECT_DOUBLE_EQ(parts.both, 40.0 / 6);
  EXPECT_DOUBLE_EQ(parts.longest(), parts.both);
  EXPECT_EQ(parts.bound(), "both");
}

TEST(LimitParts, NameTheLongest) {
  EXPECT_EQ(limit_parts(100, {.in = 30, .out = 10}, {.flops = 1, .in = 5, .out = 2, .both = 6}).bound(), "arithmetic");
  EXPECT_EQ(limit_parts(1, {.in = 30, .out = 1}, {.flops = 1, .in = 5, .out = 5, .both = 10}).bound(), "in");
  EXPECT_EQ(limit_parts(1, {.in = 1, .out = 30}, {.flops = 1, .in = 5, .out = 5, .both = 10}).bound(), "out");
}

TEST(LimitParts, HaveTheCriticalPathOfFactorizations) {
  auto parts = limit_parts(60, {.in = 30, .out = 10}, {.flops = 20, .in = 5, .out = 2, .both = 6});
  parts.chain = 7;
  EXPECT_DOUBLE_EQ(parts.longest(), 7);
  EXPECT_EQ(parts.bound(), "chain");
}

TEST(LimitParts, OfCoresAreArithmeticAlone) {
  const auto parts = limit_parts(60, {.in = 30, .out = 10}, {.flops = 20});
  EXPECT_DOUBLE_EQ(parts.longest(), 3);
  EXPECT_EQ(parts.in + parts.out + parts.both, 0);
}

// With an equal share on each GPU, the arithmetic takes 3. Links that take 9 for all operands would take 4.5 for half
// of them, so the first GPU computes more than half.
TEST(LimitParts, OfOperandsOnOneGpuCountTheSharesOfTheOthers) {
  const auto parts =
      bench::limit_parts_of_first(60, {.in = 27, .out = 10}, {.flops = 20, .in = 3, .out = 5, .both = 8}, 2);
  EXPECT_DOUBLE_EQ(parts.arithmetic, 3);
  EXPECT_DOUBLE_EQ(parts.in, 6.0 * 9 / (6 + 9));
  EXPECT_DOUBLE_EQ(parts.out, 6.0 * 2 / (6 + 2));
  EXPECT_DOUBLE_EQ(parts.both, 6 * 4.625 / (6 + 4.625));
  EXPECT_EQ(parts.bound(), "in");
}

TEST(LimitParts, OfOperandsOnOneGpuAreAtMostItsOwnTime) {
  const auto parts =
      bench::limit_parts_of_first(60, {.in = 1e9, .out = 0}, {.flops = 20, .in = 1, .out = 1, .both = 1}, 2);
  EXPECT_LE(parts.longest(), 6);
  EXPECT_NEAR(parts.longest(), 6, 1e-6);
  EXPECT_EQ(parts.out, 0);
  const auto without_links = bench::limit_parts_of_first(60, {.in = 1, .out = 1}, {.flops = 20}, 2);
  EXPECT_DOUBLE_EQ(without_links.longest(), 3);
}

// The GPUs compute at 20, so the copies take 6 for all of it. The cores would take 30 alone, and compute a sixth.
TEST(LimitParts, WithCoresBesideGpusCountTheShareOfTheGpus) {
  const auto parts = limit_parts(60, {.in = 30, .out = 10}, {.flops = 22, .in = 5, .out = 2, .both = 6, .beside = 2});
  EXPECT_DOUBLE_EQ(parts.arithmetic, 60.0 / 22);
  EXPECT_DOUBLE_EQ(parts.in, 5);
  EXPECT_DOUBLE_EQ(parts.out, 30.0 * 5 / (30 + 5));
  EXPECT_DOUBLE_EQ(parts.both, 30.0 * 40 / 6 / (30 + 40.0 / 6));
}

TEST(LimitParts, OfOperandsOnOneGpuAreAtMostItsTimeWithTheCores) {
  const auto parts = bench::limit_parts_of_first(60, {.in = 1e9, .out = 1},
                                                 {.flops = 25, .in = 1, .out = 1, .both = 1, .beside = 5}, 2);
  EXPECT_NEAR(parts.longest(), 60.0 / (10 + 5), 1e-6);
}

// The right-hand sides of a wide matrix are shorter than the solutions.
TEST(Traffic, OfLeastSquaresIsThatOfEachSide) {
  const auto gels = bench::qr(true);
  const auto wide = gels->compulsory({.m = 20, .n = 30, .k = 2}), tall = gels->compulsory({.m = 30, .n = 20, .k = 2});
  EXPECT_EQ(wide.in, 8 * (600 + 40));
  EXPECT_EQ(wide.out, 8 * (600 + 60));
  EXPECT_EQ(tall.in, 8 * (600 + 60));
  EXPECT_EQ(tall.out, tall.in);
}

bench::Result result(double median, double limit, double at_once, double chain) {
  bench::Result r;
  r.timing = bench::Timing{.first = median, .median = median, .best = median};
  r.limit = limit, r.parts.arithmetic = at_once, r.parts.chain = chain;
  return r;
}

TEST(Shares, AreResultsUpToTheLimit) {
  for (const double limit : {0.5, 1.0, 1.04}) {
    const auto r = result(1, limit, limit, limit);
    EXPECT_FALSE(r.limit_is_doubtful()) << limit;
    EXPECT_FALSE(r.parts_are_doubtful()) << limit;
  }
}

TEST(Shares, AreDoubtfulAboveTheLimit) {
  EXPECT_TRUE(result(1, 1.1, 0.9, 0).limit_is_doubtful());
  EXPECT_FALSE(result(1, 1.1, 0.9, 0).parts_are_doubtful());
  EXPECT_TRUE(result(1, 1.1, 1.1, 0).parts_are_doubtful());
}

// For a short time, the power limit allows a higher rate than over a whole second.
TEST(Shares, OfTheRatesAtOnceMayBeAboveThem) { EXPECT_FALSE(result(1, 0.95, 1.2, 0).parts_are_doubtful()); }

TEST(Shares, OfTheChainMayNot) {
  const auto r = result(14e-3, 9e-3, 12e-3, 44e-3);
  EXPECT_FALSE(r.limit_is_doubtful());
  EXPECT_TRUE(r.parts_are_doubtful());
}

/// Runs a small product on as many GPUs as the test may use, or on a core. TESSERA_TEST_BENCH names the program.
/// @param more  further options
Ended bench_small(const char* gpus, const char* routines = "gemm", const std::vector<std::string>& more = {}) {
  const char* const bench = std::getenv("TESSERA_TEST_BENCH");
  if (bench == nullptr) throw std::runtime_error("TESSERA_TEST_BENCH must name tessera-bench");
  std::vector<std::string> words{bench, "--routine", routines, "--size",   "512", "--cpus", "1", "--gpus",
                                 gpus,  "--repeat",  "1",      "--warmup", "0",   "--json", "-"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words, 200);
}

void expect_both_limits(const nlohmann::json& row) {
  const auto& parts = row.at("limit_parts_s");
  double longest = 0;
  for (const char* part : {"arithmetic", "in", "out", "both"})
    longest = std::max(longest, parts.at(part).get<double>());
  EXPECT_EQ(row.at("limit_at_once_s"), longest);
  for (const auto& [limit, fraction] :
       {std::pair{"limit_s", "fraction_of_limit"}, {"limit_at_once_s", "fraction_of_limit_at_once"}}) {
    EXPECT_GT(row.at(limit), 0);
    const std::string doubtful = std::string(fraction) + "_doubtful";  // true if other programs have slowed it down
    EXPECT_EQ(row.contains(doubtful), row.at(fraction).is_null());
    EXPECT_DOUBLE_EQ(row.contains(doubtful) ? row.at(doubtful) : row.at(fraction),
                     row.at(limit).get<double>() / row.at("median_s").get<double>());
  }
}

TEST(Bench, HasOneLimitOnCores) {
  const auto ended = bench_small("0");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto row = nlohmann::json::parse(ended.out);
  expect_both_limits(row);
  EXPECT_DOUBLE_EQ(row.at("limit_at_once_s"), row.at("limit_s"));
  EXPECT_THAT(ended.err, Not(HasSubstr("at once")));
}

TEST(Bench, MeasuresTheCriticalPathOfFactorizations) {
  const auto ended = bench_small("0", "potrf,posv,getrf,gesv,getrf_nopiv,gemm");
  ASSERT_EQ(ended.status, 0) << ended.err;
  std::istringstream lines(ended.out);
  int chains = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    const auto& parts = row.at("limit_parts_s");
    EXPECT_EQ(parts.contains("chain"), row.at("routine") != "gemm") << line;
    if (!parts.contains("chain")) continue;
    chains++;
    EXPECT_GT(parts.at("chain"), 0) << line;
    EXPECT_GE(row.at("limit_at_once_s"), parts.at("chain"));
  }
  EXPECT_EQ(chains, 5);
}

// Between two calls of a factorization, the tiles are filled again, by tasks.
TEST(Bench, CountsTheMeasuredCallsOnly) {
  const auto ended = bench_small("0", "potrf", {"--memory", "spread", "--tile", "128"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto row = nlohmann::json::parse(ended.out);
  EXPECT_EQ(row.at("scheduling").at("tasks"), 21) << "20 operations on 10 tiles, and their outcome";
}

TEST(Bench, HasTheLimitOfGPUsByParts) {
  const char* gpus = std::getenv("TESSERA_TEST_NEEDS_GPUS");
  if (gpus == nullptr) GTEST_SKIP() << "needs a GPU";
  const auto ended = bench_small(gpus);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto row = nlohmann::json::parse(ended.out);
  expect_both_limits(row);
  const auto& parts = row.at("limit_parts_s");
  for (const char* part : {"arithmetic", "in", "out", "both"}) EXPECT_GT(parts.at(part), 0) << part;
  EXPECT_THAT(ended.err, HasSubstr("at once"));
}

TEST(Bench, HasNoLinksOfTheHostInTheLimitOfGpuMemory) {
  const char* gpus = std::getenv("TESSERA_TEST_NEEDS_GPUS");
  if (gpus == nullptr) GTEST_SKIP() << "needs a GPU";
  const bool several = std::string(gpus) != "1";
  for (const std::string memory : {"device", "spread", "managed"}) {
    SCOPED_TRACE(memory);
    const auto ended = bench_small(gpus, "gemm", {"--memory", memory});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto row = nlohmann::json::parse(ended.out);
    expect_both_limits(row);
    const auto& parts = row.at("limit_parts_s");
    const bool crosses = memory == "device" && several;
    for (const char* part : {"in", "out", "both"}) EXPECT_EQ(parts.at(part) > 0, crosses) << part;
    EXPECT_EQ(row.at("bytes_min_h2d"), 0);
    EXPECT_THAT(ended.err, Not(HasSubstr("; in ")));
    EXPECT_EQ(ended.err.find("from the first GPU in") != std::string::npos, crosses) << ended.err;
  }
}

}  // namespace
}  // namespace tessera::test
