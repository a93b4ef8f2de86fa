// SPDX-License-Identifier: BSD-3-Clause
// LU with partial pivoting, and QR, in simulated time: the times of panels, alone and concurrent with products, and the
// traffic.
#include "one_gpu.hpp"

namespace tessera::test {
namespace {

/// The row of a factorization of order 2048, in four panels of 512 columns.
nlohmann::json factorization(const nlohmann::json& machine, const std::string& arguments = "") {
  return product(machine, 512, "--routine getrf --gpus 1 " + arguments);
}
double seconds_of(const nlohmann::json& machine) { return factorization(machine).at("median_s"); }

nlohmann::json with_panels(nlohmann::json machine, const nlohmann::json& panels) {
  machine["kinds"]["gpu"]["panels_us"] = panels;
  return machine;
}

const nlohmann::json alone{{512, 10}, {2048, 40}};
// Panels have 2048, 1536, 1024 and 512 rows.
constexpr double all_panels = 512 * (40 + 30 + 20 + 10) * 1e-6;

TEST(SimulatedLu, WaitsForItsPanels) {
  const auto fast = machine(0.001);
  const double seconds = seconds_of(with_panels(fast, {{"alone", alone}}));
  EXPECT_GT(seconds, all_panels);
  EXPECT_LT(seconds, all_panels + 2 * operand / 10e9) << "they begin when the first panel is there";
}

// Products take about as long as panels, of which there are eight.
TEST(SimulatedLu, FactorizesBesideProducts) {
  const auto slow = machine(20);
  const auto seconds = [&](const nlohmann::json& panels) {
    return product(with_panels(slow, panels), 256, "--routine getrf --gpus 1").at("median_s").get<double>();
  };
  auto panels = nlohmann::json{{"alone", alone}};
  const double one_by_one = seconds(panels);
  panels["beside_products"] = alone, panels["products"] = 1;
  const double at_once = seconds(panels);
  panels["products"] = 0.5;
  const double slower = seconds(panels);
  EXPECT_LT(at_once, 0.92 * one_by_one);
  EXPECT_GT(slower, 1.05 * at_once);
}

TEST(SimulatedLu, CopiesTheMatrixOnce) {
  const auto row = factorization(with_panels(machine(0.1), {{"alone", alone}}));
  EXPECT_EQ(row.at("bytes_h2d"), operand);
  EXPECT_EQ(row.at("bytes_d2h"), operand);
}

// Two and four GPUs share the updates, and one of them has each panel.
TEST(SimulatedLu, IsSharedByGPUs) {
  double before = 0;
  for (const auto& row : rows_of("--platform h200x4 --routine getrf --size 32768 --gpus 4,2,1", 100)) {
    const double rate = row.at("tflops");
    if (before > 0 && row.at("gpus") != 4) {
      EXPECT_LT(rate, before / 1.2) << row.at("routine") << " with " << row.at("gpus");
    }
    EXPECT_LE(row.at("bytes_h2d"), 1.01 * row.at("bytes_min_h2d").get<double>());
    before = rate;
  }
}

TEST(SimulatedPanels, AreNotSlowerOnMoreGpus) {
  for (const std::string call : {"--routine getrf --m 6000 --n 2000", "--routine geqrf --m 6000 --n 2000",
                                 "--routine getrf,geqrf --size 8192"}) {
    double fewer = 0;
    std::string routine;
    for (const auto& row : rows_of("--platform h200x4 --gpus 1,2,4 " + call)) {
      const double seconds = row.at("median_s");
      if (row.at("routine") == routine) {
        EXPECT_LE(seconds, 1.02 * fewer) << call << " on " << row.at("gpus");
      }
      fewer = seconds, routine = row.at("routine");
    }
  }
}

TEST(SimulatedLu, SolvesAfterTheFactorization) {
  const auto row = [](const std::string& call) {
    return row_of("--platform h200x4 --gpus 2 " + call).at("median_s").get<double>();
  };
  const double factorization = row("--routine getrf --m 8192 --n 8192"),
               solution = row("--routine gesv --n 8192 --k 64");
  EXPECT_GT(solution, factorization);
  EXPECT_LT(solution, 1.5 * factorization);
}

TEST(SimulatedLu, CoresMayFactorizePanels) {
  auto cores = machine(0.001);
  cores["cpu"]["panel_gflops"] = 1;
  const double flops = 512.0 * 512 * (2048 + 1536 + 1024 + 512 - 4 * 512 / 3.0);
  const double seconds = factorization(cores, "--cpus 1").at("median_s");
  EXPECT_GT(seconds, flops / 1e9);
  EXPECT_LT(seconds, 1.1 * flops / 1e9) << "the GPU updates";
  const Scratch folder;
  const auto file = (folder / "mine.json").string();
  write_file(file, cores.dump());
  const auto refused = [&](const std::string& arguments, const char* why) {
    const auto run = simulate("--platform " + file + " --size 512 --gpus 1 " + arguments);
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, ::testing::HasSubstr(why));
  };
  refused("--routine gesv --cpus 0",
          "--routine: 'gesv' cannot be simulated without CPU workers, which factorize panels");
  refused("--routine geqrf --cpus 1", "has no panels_us for gpu");
}

// StarPU's policies place the tasks, panels included.
TEST(SimulatedLu, RunsUnderStarpusPolicies) {
  const auto rows = rows_of("--platform summit-node --routine getrf --size 8192 --policy tessera,dmdas,lws");
  ASSERT_EQ(rows.size(), 3);
  for (const auto& row : rows) EXPECT_GE(row.at("bytes_h2d"), row.at("bytes_min_h2d")) << row.at("policy");
}

TEST(SimulatedLu, NeedsTheTimesOfPanels) {
  const Scratch folder;
  const auto file = (folder / "mine.json").string();
  write_file(file, machine(1).dump());
  const auto named = simulate("--platform " + file + " --routine gesv --size 512 --gpus 1");
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, ::testing::HasSubstr("--routine: 'gesv' cannot be simulated on mine, whose description has no "
                                              "panels_us for gpu"));
  EXPECT_EQ(simulate("--platform " + file + " --routine getrf --size 512 --gpus 0 --cpus 2").status, 0);
  const auto all = rows_of("--platform " + file + " --routine all --size 512 --gpus 1");
  EXPECT_TRUE(std::ranges::none_of(all, [](const auto& row) { return row.at("routine") == "getrf"; }));
  EXPECT_TRUE(std::ranges::any_of(all, [](const auto& row) { return row.at("routine") == "potrf"; }));
}

// Without the copy for the adjoint that real matrices need: no host has this memory.
TEST(SimulatedLeastSquares, TakesNoMemoryForTheAdjoint) {
  const auto row = row_of("--platform h200x4 --gpus 1 --routine gels --m 20000 --n 1000000 --k 1");
  EXPECT_GT(row.at("median_s"), 0);
}

}  // namespace
}  // namespace tessera::test
