// SPDX-License-Identifier: BSD-3-Clause
// StarPU programs without Tessera, on described machines.
#include <fstream>

#include "laboratory.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The program with task graphs that are not Tessera's.
std::string graphs() {
  const char* program = std::getenv("TESSERA_TEST_GRAPHS");
  if (program == nullptr) throw std::runtime_error("TESSERA_TEST_GRAPHS must name the program graphs");
  return program;
}

std::string on(const std::string& platform, const std::string& graph) {
  return "--platform " + platform + " --program " + graphs() + " -- " + graph;
}

TEST(Programs, AreComparedUnderSeveralPolicies) {
  const auto rows = rows_of("--policy tessera,eager,dmdas --gpus 1,3 " + on("everest", "cholesky-right --tiles 5"));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].at("policy"), "tessera");
  EXPECT_EQ(rows[2].at("policy"), "dmdas");
  EXPECT_EQ(rows[5].at("gpus"), 3);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("program").at(1), "cholesky-right");
    EXPECT_GT(row.at("median_s"), 0);
    EXPECT_GE(row.at("bytes_h2d"), 15 * 8 * 1024 * 1024) << "the tiles of the lower triangle";
  }
  EXPECT_TRUE(rows[1].at("scheduling").is_null());
}

TEST(Programs, RunUnderAUsersPolicy) {
  const auto row = row_of("--policy-library " + std::string(std::getenv("TESSERA_TEST_FIFO")) + " --policy fifo " +
                          on("everest", "chains --tiles 4"));
  EXPECT_EQ(row.at("policy"), "fifo");
  EXPECT_GT(row.at("median_s"), 0);
}

TEST(Programs, HaveElementsOfTheTypeThatIsAskedFor) {
  const auto seconds = [](const char* type) -> double {
    return row_of(std::string("--type ") + type + " " + on("everest", "gemm-rows --tiles 4")).at("median_s");
  };
  EXPECT_LT(seconds("s"), seconds("d"));
}

/// The times of three products in one program, in seconds.
std::vector<double> times_of_products(const char* options) {
  setenv("TESSERA_SCHED", options, 1);
  const auto ended = simulate("--cpus 12 " + on("everest", "gemm-rows --tiles 12 --calls 3"));
  unsetenv("TESSERA_SCHED");
  EXPECT_EQ(ended.status, 0) << ended.err;
  std::vector<double> times;
  std::istringstream words(ended.out + ended.err);
  for (std::string word; words >> word;)
    if (word == "call") words >> word >> times.emplace_back();
  return times;
}

// Cores save 5 % of the time of a product.
TEST(Programs, NeedNoModelsFromTheThirdCallOn) {
  const auto known = times_of_products(""), measured = times_of_products("-models");
  ASSERT_EQ(known.size(), 3);
  ASSERT_EQ(measured.size(), 3);
  EXPECT_LE(measured[0], 1.06 * known[0]);
  EXPECT_LE(measured[2], 1.01 * known[2]);
}

// The tasks run one after another, so the time is known.
TEST(Programs, TakeWhatTheTableOfCodeletsSays) {
  const Scratch folder;
  const auto machine = folder.path() / "table.json";
  {
    std::ifstream original(std::string(TESSERA_PLATFORM_FOLDER) + "/everest.json");
    auto json = nlohmann::json::parse(original);
    for (auto& [name, kind] : json["kinds"].items()) {
      kind["codelets_ms"]["geqrt"] = nlohmann::json::parse("[[1, 1e-6], [8388608, 2500]]");
      kind["task_overhead_us"] = 0;
    }
    std::ofstream(machine) << json;
  }
  const double seconds = row_of(on(machine, "qr --tiles 1")).at("median_s");
  EXPECT_GT(seconds, 2.5);
  EXPECT_LT(seconds, 2.6);
}

/// The arguments for the program own_tasks on one GPU.
std::string own_tasks(const std::string& arguments) {
  return "--platform everest --gpus 1 --program " + std::string(std::getenv("TESSERA_TEST_OWN_TASKS")) + " -- " +
         arguments;
}

TEST(Programs, RunTheImplementationsThatTheirCodeletsAccept) {
  EXPECT_LT(row_of(own_tasks("refused")).at("median_s"), 0.1);
}

// StarPU does not tell the policy when its own copies have ended, and nothing tells a worker that a time has passed.
TEST(Programs, WithStarpusOwnCopiesEndInLittleMemory) {
  for (const int memory : {60, 90, 200})
    for (int seed = 1; seed <= 7; seed++) {
      SCOPED_TRACE(std::to_string(memory) + " MiB, seed " + std::to_string(seed));
      const auto row =
          row_of("--gpu-memory " + std::to_string(memory) + " " + own_tasks("copies " + std::to_string(seed)));
      EXPECT_GT(row.at("median_s"), 0);
    }
}

// GPUs load operands through peers, and the program unregisters these operands while others are still used.
TEST(Programs, MayUnregisterOperandsThatPeersHaveLoaded) {
  setenv("TESSERA_SCHED", "relay", 1);
  const auto row = row_of("--platform h200x4 --cpus 0 --program " + std::string(std::getenv("TESSERA_TEST_OWN_TASKS")) +
                          " -- unregisters");
  unsetenv("TESSERA_SCHED");
  std::vector<double> loaded;
  for (const auto& link : row.at("links"))
    if (link.at("from") == -1) loaded.push_back(link.at("bytes"));
  ASSERT_EQ(loaded.size(), 4u);
  const auto [least, most] = std::ranges::minmax(loaded);
  EXPECT_LT(most, 1.3 * least) << "the links to the host are balanced";
}

TEST(Programs, CopyLessWithHintsOfTheLastUse) {
  const auto bytes = [](const std::string& hints) -> double {
    return row_of("--gpu-memory 220 --cpus 0 " + on("h200x4", "gemm-rows --tiles 12" + hints)).at("bytes_h2d");
  };
  EXPECT_LT(bytes(" --last-uses"), 0.95 * bytes(""));
}

TEST(Programs, ThatCannotRunAreRefused) {
  const auto refused = [](const std::string& arguments, int status, const std::string& text) {
    const auto ended = simulate("--platform everest " + arguments);
    EXPECT_EQ(ended.status, status) << arguments;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("tessera-simulate: "), HasSubstr(text))) << arguments;
  };
  refused("--program ./no-such-program", 2, "--program: './no-such-program' is not a program");
  refused("--program " + graphs() + " --size 4096", 2, "--size: cannot be used with --program");
  for (const char* other : {"--m", "--n", "--k", "--chain", "--seed"})
    refused("--program " + graphs() + " " + other + " 1", 2, std::string(other) + ": cannot be used with --program");
  for (const char* other : {"--explain", "--sweep"})
    refused("--program " + graphs() + " " + other, 2, std::string(other) + ": cannot be used with --program");
  refused("--program " + graphs() + " --type s,d", 2, "--type: a --program has elements of one type");
  refused("gemm", 2, "arguments need a --program");
  refused("--policy best --program " + graphs() + " -- qr", 2, "--policy is 'best', must be one of ");
  refused(std::string("--program ") + std::getenv("TESSERA_TEST_COMPUTING_PROGRAM"), 2,
          "it has been built with a StarPU that computes, ");
  refused("--program /bin/true", 3, "ended without a result");
  refused("--program " + graphs() + " -- no-such-graph", 3, "ended without a result");
}

}  // namespace
}  // namespace tessera::test
