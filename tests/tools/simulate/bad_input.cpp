// SPDX-License-Identifier: BSD-3-Clause
// Messages of tessera-simulate about invalid arguments.
#include "laboratory.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_refused(const std::string& arguments, const std::string& argument, const std::string& reason) {
  const auto ended = simulate(arguments);
  EXPECT_EQ(ended.status, 2) << arguments;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("tessera-simulate: "), HasSubstr(argument), HasSubstr(reason))) << arguments;
}

TEST(BadInput, UnknownPlatformNamesTheKnownOnes) {
  for (const char* known : {"everest", "h200x4", "makalu", "summit-node"})
    expect_refused("--platform nope", "--platform: 'nope'", known);
  expect_refused("--platform ./nope.json", "--platform: './nope.json'", "is not a file");
  expect_refused("", "--platform", "required");
}

TEST(BadInput, UnknownPolicyNamesTheKnownOnes) {
  for (const char* known : {"tessera", "lws", "dmdas"})
    expect_refused("--platform everest --policy best", "policy is 'best'", known);
}

TEST(BadInput, UnknownRoutineNamesTheKnownOnes) {
  for (const char* known : {"gemm", "her2k", "trsm"})
    expect_refused("--platform everest --routine gemv", "--routine: 'gemv'", known);
}

TEST(BadInput, WrongOptionOfThePolicyIsNamed) {
  setenv("TESSERA_SCHED", "steal=maybe", 1);
  expect_refused("--platform everest --policy tessera", "TESSERA_SCHED has 'steal=maybe'", "steal or -steal");
  unsetenv("TESSERA_SCHED");
}

TEST(BadInput, OldVariableIsReportedWithItsNewName) {
  setenv("TESSERA_SCHED_STEAL", "off", 1);
  expect_refused("--platform everest --size 1024", "TESSERA_SCHED_STEAL is no longer read", "TESSERA_SCHED=-steal");
  unsetenv("TESSERA_SCHED_STEAL");
}

TEST(BadInput, TraceNeedsANewFolder) {
  expect_refused("--platform everest --trace /", "--trace", "must be a new folder");
  expect_refused("--platform everest --trace /dev/null", "--trace", "must be a folder");
  expect_refused("--platform everest --trace /proc/none/run", "--trace: '/proc/none/run'", "cannot be made: ");
}

TEST(BadInput, MoreThanTheMachineHasIsRefused) {
  expect_refused("--platform everest --gpus 4", "--gpus: '4'", "3 GPUs of everest");
  expect_refused("--platform everest --cpus 17", "--cpus: '17'", "16 cores");
  expect_refused("--platform everest --cpus 0 --gpus 0", "--cpus", "leaves no device");
  expect_refused("--platform everest --gpu-memory 0", "--gpu-memory", "0");
  expect_refused("--platform everest --memory pageable", "--memory", "cannot be simulated");
}

TEST(BadInput, EmptyCallsHaveNoRate) {
  using ::testing::Not;
  const auto ended = simulate("--platform everest --size 0 --sweep");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("computing -,"), Not(HasSubstr("nan"))));
  const auto without_sides = simulate("--platform h200x4 --routine gels --m 20 --n 10 --k 0 --brief");
  EXPECT_EQ(without_sides.status, 0) << without_sides.err;
  EXPECT_THAT(without_sides.out, AllOf(HasSubstr("dgels"), Not(HasSubstr("inf"))));
}

/// The tasks of this product took more than 17 GB when the system ended the simulation.
TEST(BadInput, MoreTasksThanTheMemoryHoldsAreRefused) {
  expect_refused("--platform h200x4 --size 2000000 --tile 256", "of order 2000000 in tiles of 256", "GB are free");
}

TEST(BadInput, PlacementThatThePolicyDoesNotKnowIsRefused) {
  expect_refused("--platform everest --policy lws --placement home", "placement", "home");
}

}  // namespace
}  // namespace tessera::test
