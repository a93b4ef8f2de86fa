// SPDX-License-Identifier: BSD-3-Clause
// tessera-simulate with a user's scheduling policy: examples/09_policy.c, which TESSERA_TEST_FIFO names.
#include <filesystem>

#include "laboratory.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string library(const char* variable) {
  const char* file = std::getenv(variable);
  if (file == nullptr) throw std::runtime_error(std::string(variable) + " must name a library");
  return file;
}

const std::string problem = "--platform everest --size 4096 --tile 1024 ";

TEST(PolicyLibrary, RunsAllTasksUnderItsPolicy) {
  const auto rows =
      rows_of(problem + "--placement scheduler --policy fifo,tessera --policy-library " + library("TESSERA_TEST_FIFO"));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].at("policy"), "fifo");
  EXPECT_EQ(rows[1].at("policy"), "tessera");
  const auto sum = [](const std::vector<double>& busy) { return busy[0] + busy[1] + busy[2]; };
  EXPECT_NEAR(sum(per_gpu(rows[0], "busy")), sum(per_gpu(rows[1], "busy")), 1e-9 * sum(per_gpu(rows[1], "busy")));
  EXPECT_EQ(rows[0].at("policy_library"), library("TESSERA_TEST_FIFO"));
  EXPECT_THAT(rows[1].at("policy_library").get<std::string>(), HasSubstr("libtessera_sched"));
  // The policy tessera knows where tiles are.
  EXPECT_GT(rows[0].at("bytes_h2d"), rows[1].at("bytes_h2d"));
}

TEST(PolicyLibrary, ItsFirstPolicyIsTheDefault) {
  const auto row = row_of(problem + "--policy-library " + library("TESSERA_TEST_FIFO"));
  EXPECT_EQ(row.at("policy"), "fifo");
  EXPECT_EQ(row.at("placement"), "scheduler");
}

TEST(PolicyLibrary, CanBeNamedRelativeToTheFolder) {
  const Scratch folder;
  std::filesystem::create_symlink(library("TESSERA_TEST_FIFO"), folder.path() / "own.so");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(row_of(problem + "--policy-library own.so").at("policy"), "fifo");
  std::filesystem::current_path(before);
}

void expect_refused(const std::string& arguments, const std::string& argument, const std::string& reason) {
  const auto ended = simulate(problem + arguments);
  EXPECT_EQ(ended.status, 2) << arguments;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("tessera-simulate: " + argument), HasSubstr(reason))) << arguments;
}

TEST(PolicyLibrary, WrongNamesAreRefusedWithTheKnownOnes) {
  const auto own = " --policy-library " + library("TESSERA_TEST_FIFO");
  expect_refused("--policy fifu" + own, "--policy is 'fifu'", "must be one of tessera, fifo, ");
  expect_refused("--policy fifo", "--policy is 'fifo'", "must be one of tessera, ");
}

TEST(PolicyLibrary, WhatCannotBeUsedIsRefused) {
  expect_refused("--policy-library /nonexistent/own.so", "--policy-library: '/nonexistent/own.so'", "is not a file");
  for (const std::string none : {"/", "/dev/zero"})
    expect_refused("--policy-library " + none, "--policy-library: '" + none + "'", "is not a file");
  expect_refused("--policy-library /etc/passwd", "--policy-library is '/etc/passwd'", "cannot be loaded");
  const auto other = library("TESSERA_TEST_COMPUTING_POLICY");
  expect_refused("--policy-library " + other, "--policy-library: '" + other,
                 "was not compiled for a StarPU that simulates");
}

TEST(PolicyLibrary, ACopyOfTheLibrarysOwnIsRefused) {
  const Scratch folder;
  const std::string own = row_of(problem).at("policy_library"), copy = folder.path() / "copy.so";
  std::filesystem::copy_file(own, copy);
  expect_refused("--policy-library " + copy, "--policy-library is '" + copy, "whose policy 'tessera' would be ignored");
}

TEST(PolicyLibrary, PlacementFromTheEnvironmentUsesTheSameCores) {
  const auto typed = row_of(problem + "--placement scheduler --policy tessera");
  setenv("TESSERA_PLACEMENT", "scheduler", 1);
  const auto set = row_of(problem + "--policy tessera");
  unsetenv("TESSERA_PLACEMENT");
  EXPECT_EQ(set.at("cpus"), typed.at("cpus"));
  EXPECT_EQ(set.at("median_s"), typed.at("median_s"));
}

}  // namespace
}  // namespace tessera::test
