// SPDX-License-Identifier: BSD-3-Clause
// Cores compute tiles alongside GPUs if this is faster, and only then.
#include <gmock/gmock.h>

#include "laboratory.hpp"

namespace tessera::test {
namespace {

double median(const nlohmann::json& row) { return row.at("median_s"); }
int core_tasks(const nlohmann::json& row) { return row.at("core_tasks"); }

struct Gain {
  const char* machine;
  const char* routines;
  double least;  ///< speedup compared with no cores
};

// Consumer GPUs compute double precision at 1/64 of their rate.
TEST(Cores, SpeedUpSlowGpus) {
  for (const auto& [machine, routines, least] : {Gain{"consumer", "gemm,symm", 1.45},
                                                 {"consumer", "syrk,syr2k", 1.4},
                                                 {"nehalem-tesla", "gemm,symm,syrk,syr2k", 1.2},
                                                 {"gtx-260", "gemm,symm,syrk,syr2k", 1.1}}) {
    const auto arguments = std::string("--platform ") + machine + " --size 8192 --routine " + routines;
    const auto with = rows_of(arguments), without = rows_of(arguments + " --cpus 0");
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t i = 0; i < with.size(); i++) {
      const auto what = arguments + " " + with[i].at("routine").get<std::string>();
      EXPECT_GE(median(without[i]), least * median(with[i])) << what;
      EXPECT_GT(core_tasks(with[i]), 0) << what;
      EXPECT_EQ(core_tasks(without[i]), 0) << what;
      EXPECT_LE(with[i].at("fraction_of_limit"), 1) << what << ": the limit includes the cores";
      const auto& scheduling = with[i].at("scheduling");
      EXPECT_LE(scheduling.at("idle_for_tasks_s").get<double>() + scheduling.at("idle_for_data_s").get<double>(),
                scheduling.at("workers").get<double>() * median(with[i]))
          << what;
      EXPECT_LT(scheduling.at("gpu_workers"), scheduling.at("workers")) << what;
      EXPECT_LE(scheduling.at("idle_for_data_s").get<double>(),
                scheduling.at("gpu_workers").get<double>() * median(with[i]))
          << what;
    }
  }
}

TEST(Cores, StayOutOfFastGpus) {
  for (const auto* arguments : {"--platform h200x4 --size 8192 --routine gemm,syrk,trsm",
                                "--platform summit-node --size 8192 --routine gemm,syrk,trsm",
                                "--platform consumer --size 8192 --type s --routine gemm,syrk,trsm"}) {
    const auto with = rows_of(arguments), without = rows_of(std::string(arguments) + " --cpus 0");
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t i = 0; i < with.size(); i++) {
      EXPECT_EQ(core_tasks(with[i]), 0) << arguments;
      // An idle CPU worker changes the fifth digit of some times.
      EXPECT_NEAR(median(with[i]), median(without[i]), 1e-3 * median(without[i])) << arguments;
    }
  }
}

// Small calls, and calls in which one tile on a core takes a large part of the time.
TEST(Cores, NeverCostMoreThanOnePercent) {
  for (const auto* machine : {"makalu", "sandy-kepler", "hd-6990", "nehalem-tesla", "gtx-260", "consumer"}) {
    const auto arguments = std::string("--platform ") + machine + " --size 1000,2048,4096,5000 --routine gemm,syr2k";
    const auto with = rows_of(arguments), without = rows_of(arguments + " --cpus 0");
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t i = 0; i < with.size(); i++)
      EXPECT_LE(median(with[i]), 1.01 * median(without[i]))
          << machine << ' ' << with[i].at("routine") << ' ' << with[i].at("n");
  }
}

// The policy learns durations from measurements alone. A task on a core takes longer than these calls.
TEST(Cores, MeasureNothingThatWouldMakeACallLonger) {
  setenv("TESSERA_SCHED", "-models", 1);
  const std::string arguments =
      "--platform h200x4 --routine gemm,syrk,trsm,potrf --size 8192 --tile 1024 --placement scheduler --cpus ";
  const auto with = rows_of(arguments + "60"), without = rows_of(arguments + "0");
  unsetenv("TESSERA_SCHED");
  ASSERT_EQ(with.size(), without.size());
  for (std::size_t i = 0; i < with.size(); i++)
    EXPECT_LE(median(with[i]), 1.05 * median(without[i])) << with[i].at("routine");
}

// A number that the user gives overrides the library's.
TEST(Cores, CanBeLeftOut) {
  for (const auto* cpus : {"0", "1"}) {
    const auto row = row_of(std::string("--platform consumer --size 4096 --cpus ") + cpus);
    EXPECT_EQ(core_tasks(row), 0) << cpus;
  }
}

}  // namespace
}  // namespace tessera::test
