// SPDX-License-Identifier: BSD-3-Clause
// Starting a Runtime: options, environment variables, and messages about wrong ones. Many Runtimes start one after
// another.
#include <dlfcn.h>
#include <starpu.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <tessera/sched.h>
#include <tessera/tessera.h>
#include <tessera/blas.hpp>
#include <tessera/matrix.hpp>

#include "common/old_variables.hpp"
#include "common/variables.hpp"
#include "runtime/start_options.hpp"
#include "support/environment.hpp"
#include "support/oracle.hpp"
#include "support/refused.hpp"

namespace tessera::test {
namespace {

/// Expects that the start fails with this error, and that no StarPU is left running.
void expect_no_start(const RuntimeOptions& options, const std::string& argument, const std::string& problem) {
  try {
    const Runtime runtime(options);
    ADD_FAILURE() << "started with an illegal " << argument;
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.routine(), "Runtime");
    EXPECT_EQ(error.position(), 0);
    EXPECT_EQ(error.argument(), argument);
    EXPECT_THAT(error.what(), ::testing::StartsWith("Runtime: " + argument + " "));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(problem));
  }
  EXPECT_EQ(starpu_is_initialized(), 0);
}

/// Options that start only CPU workers, also on machines with GPUs.
RuntimeOptions cpus(int count) {
  RuntimeOptions options;
  options.cpus = count;
  options.gpus = 0;
  return options;
}

void expect_right_product() {
  const auto A = integer_matrix<double>(1, 40, 50), B = integer_matrix<double>(2, 50, 60);
  HostMatrix<double> C(40, 60), expected(40, 60);
  gemm<double>(Op::NoTrans, Op::NoTrans, 40, 60, 50, 1, A.data(), A.ld(), B.data(), B.ld(), 0, C.data(), C.ld());
  host_product<double>({Op::NoTrans, Op::NoTrans, 1, A, B, 0}, expected);
  EXPECT_TRUE(C.equals(expected));
}

TEST(RuntimeOptions, OutOfRangeAreRefused) {
  auto options = cpus(-2);
  expect_no_start(options, "cpus", "is -2");
  options = cpus(1), options.gpus = -5;
  expect_no_start(options, "gpus", "is -5");
  options = cpus(1), options.tile = -1;
  expect_no_start(options, "tile", "is -1");
  options = cpus(1), options.tile = Index{1} << 31;
  expect_no_start(options, "tile", "is 2147483648");
}

TEST(RuntimeOptions, UnknownPolicyNamesTheKnownOnes) {
  auto options = cpus(1);
  options.policy = "best";
  for (const char* known : {"'best'", "lws", "dmdas", "eager"}) expect_no_start(options, "policy", known);
}

TEST(RuntimeOptions, PoliciesThatCannotWorkAreRefusedAndNotListed) {
  auto options = cpus(1);
  options.policy = "pheft";
  expect_no_start(options, "policy", "several workers run together");
  options.policy = "graph_test";
  expect_no_start(options, "policy", "is 'graph_test', which waits");
  options.policy = "dmdasd";
  expect_no_start(options, "policy", "is 'dmdasd', which asks");
  options.policy = "best";
  try {
    const Runtime runtime(options);
    FAIL() << "it started";
  } catch (const ArgumentError& error) {
    for (const char* name : {" pheft", "graph_test", "dmdasd", "modular-heteroprio"})
      EXPECT_EQ(error.problem().find(name), std::string::npos) << name;
  }
}

TEST(RuntimeOptions, UnknownPolicyIsRefusedBesideALibraryOfPolicies) {
  Dl_info library{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&tessera_sched_policy), &library), 0);
  const Environment environment{{"STARPU_SCHED_LIB", library.dli_fname}};
  auto options = cpus(1);
  options.policy = "best";
  for (const char* known : {"'best'", "tessera", "lws"}) expect_no_start(options, "policy", known);
  options.policy = "eager";
  {
    const Runtime runtime(options);
    EXPECT_EQ(policy(), "eager");
  }
}

TEST(RuntimeOptions, LibraryOfPoliciesThatCannotBeUsedIsRefused) {
  auto options = cpus(1);
  for (const char* policy : {"eager", "tessera", ""}) {
    options.policy = policy;
    const Environment environment{{"STARPU_SCHED_LIB", "/nonexistent/libmine.so"}};
    for (const char* part : {"'/nonexistent/libmine.so'", "cannot be loaded", "No such file"})
      expect_no_start(options, "STARPU_SCHED_LIB", part);
  }
  const Environment environment{{"STARPU_SCHED_LIB", "libc.so.6"}};
  expect_no_start(options, "STARPU_SCHED_LIB", "not a policy library");
}

TEST(RuntimeEnvironment, StarpusOwnPolicyVariableIsUsedLast) {
  const Environment environment{{"TESSERA_DEVICES", "none"}, {"TESSERA_CPUS", "1"}, {"STARPU_SCHED", "prio"}};
  {
    const Runtime runtime;
    EXPECT_EQ(policy(), "prio");
  }
  for (const char* ours : {"eager", "tessera"}) {
    const Environment stronger{{"TESSERA_POLICY", ours}};
    const Runtime runtime;
    EXPECT_EQ(policy(), ours);
  }
  EXPECT_STREQ(std::getenv("STARPU_SCHED"), "prio") << "put back";
  const Environment wrong{{"STARPU_SCHED", "best"}};
  expect_no_start({}, "policy", "'best'");
}

TEST(RuntimeOptions, NothingToComputeWithIsRefused) { expect_no_start(cpus(0), "cpus", "no GPU"); }

TEST(RuntimeOptions, MoreGpusThanThereAreIsRefused) {
  auto options = cpus(1);
  options.gpus = 99;
  expect_no_start(options, "gpus", "is 99, but this machine has 0 that can be used (");
}

TEST(RuntimeOptions, OfTheCInterfaceAreRefusedByPosition) {
  EXPECT_EQ(tessera_init(-2, 0), -1);
  EXPECT_THAT(tessera_last_error(), ::testing::HasSubstr("is -2"));
  EXPECT_EQ(tessera_init(1, 99), -2);
  EXPECT_EQ(tessera_finalize(), TESSERA_RUNTIME_FAILURE);  // no tessera_init has succeeded
  EXPECT_EQ(starpu_is_initialized(), 0);
}

TEST(RuntimeEnvironment, InvalidValuesAreRefused) {
  struct Case {
    const char *variable, *value, *allowed;
  };
  for (const auto& c : {Case{"TESSERA_CPUS", "abc", "a number from 0 to "},
                        {"TESSERA_CPUS", "-1", "a number from 0 to "},
                        {"TESSERA_CPUS", "2x", "a number from 0 to "},
                        {"TESSERA_CPUS", "1e3", "a number from 0 to "},
                        {"TESSERA_CPUS", "99999999999999999999", "a number from 0 to "},
                        {"TESSERA_TILE", "big", "a number from 0 to 2147483647"},
                        {"TESSERA_TILE", "4294967296", "a number from 0 to 2147483647"},
                        {"TESSERA_TILE_EDGES", "odd", "ragged or even"},
                        {"TESSERA_PLACEMENT", "nearest", "home, owner or scheduler"},
                        {"TESSERA_PROGRESS", "yes", "0 or 1"},
                        {"TESSERA_GPU_MEMORY", "half", "a number from 0 to "},
                        {"TESSERA_GPU_MEMORY", "-1", "a number from 0 to "},
                        {"TESSERA_PINNED_MEMORY", "1.5", "a number from 0 to "}}) {
    const Environment environment{{"TESSERA_CPUS", "1"}, {"TESSERA_DEVICES", "none"}};
    const Environment wrong{{c.variable, c.value}};
    expect_no_start({}, c.variable, "is '" + std::string(c.value) + "', must be " + c.allowed);
  }
}

TEST(RuntimeEnvironment, DevicesAreANumberOrAListOfKinds) {
  struct Case {
    const char* text;
    int gpus, cuda, opencl;
  };
  for (const auto& c : {Case{"", -1, -1, -1},
                        {"all", -1, -1, -1},
                        {"3", 3, -1, -1},
                        {"0", 0, -1, -1},
                        {"none", 0, -1, -1},
                        {"cpu", 0, -1, -1},
                        {"cuda=2", -1, 2, -1},
                        {"opencl=0", -1, -1, 0},
                        {"opencl=3,cuda=1", -1, 1, 3}}) {
    const Environment environment{{"TESSERA_DEVICES", c.text}};
    const auto options = runtime::with_environment({});
    EXPECT_EQ(options.gpus, c.gpus) << c.text;
    EXPECT_EQ(options.cuda, c.cuda) << c.text;
    EXPECT_EQ(options.opencl, c.opencl) << c.text;
  }
  for (const char* wrong : {"two", "-1", "65537", "2x", "cuda", "cuda=", "cuda=two", "cuda=-1", "cuda=1,cuda=1",
                            "cuda=1,", ",opencl=1", "hip=1", "=1", "2,opencl=1", "all,cuda=1", "CPU"}) {
    const Environment environment{{"TESSERA_DEVICES", wrong}};
    expect_no_start({}, "TESSERA_DEVICES",
                    "is '" + std::string(wrong) + "', must be a number of GPUs, all, none, cpu, cuda=N, opencl=N, or");
  }
}

TEST(RuntimeEnvironment, AllowedWordsAreListed) {
  using common::values::words;
  EXPECT_EQ(words("a").allowed(), "a");
  EXPECT_EQ(words("0|1").allowed(), "0 or 1");
  EXPECT_EQ(words("a|b|c").allowed(), "a, b or c");
  EXPECT_EQ(words("a|b|c|d").allowed(), "a, b, c or d");
}

TEST(RuntimeEnvironment, FieldsWinOverTheDevicesOfTheEnvironment) {
  const Environment environment{{"TESSERA_DEVICES", "cuda=2,opencl=1"}};
  RuntimeOptions options;
  options.gpus = 1, options.cuda = 0;
  options = runtime::with_environment(options);
  EXPECT_EQ(options.gpus, 1);
  EXPECT_EQ(options.cuda, 0);
  EXPECT_EQ(options.opencl, 1);
}

TEST(RuntimeEnvironment, OldVariablesAreRefusedWithTheirNewNames) {
  for (const auto& old : common::old_variables) {
    const Environment environment{{old.name.data(), "1"}};
    expect_no_start(cpus(1), std::string(old.name), "is no longer read: use " + std::string(old.now));
  }
}

TEST(RuntimeEnvironment, UnknownPolicyIsRefused) {
  const Environment environment{{"TESSERA_POLICY", "best"}, {"TESSERA_DEVICES", "none"}};
  expect_no_start({}, "policy", "'best'");
}

TEST(RuntimeEnvironment, FillsInUnsetOptions) {
  const Environment environment{{"TESSERA_CPUS", "1"}, {"TESSERA_DEVICES", "none"}, {"TESSERA_POLICY", "eager"}};
  const Runtime runtime;
  EXPECT_EQ(cpu_workers(), 1);
  EXPECT_EQ(gpu_count(), 0);
  EXPECT_EQ(policy(), "eager");
}

TEST(RuntimeEnvironment, YieldsToTheOptions) {
  const Environment environment{{"TESSERA_CPUS", "abc"}, {"TESSERA_POLICY", "eager"}, {"TESSERA_TILE", "7"}};
  auto options = cpus(1);
  options.policy = "prio";
  options.tile = 20;
  const Runtime runtime(options);
  EXPECT_EQ(cpu_workers(), 1);
  EXPECT_EQ(policy(), "prio");
  std::vector<double> data(1600);
  EXPECT_EQ(Matrix<double>(data.data(), 40, 40, 40).mt(), 2);
}

TEST(RuntimeEnvironment, SetsTheTile) {
  const Environment environment{{"TESSERA_TILE", "7"}};
  const Runtime runtime(cpus(1));
  std::vector<double> data(400);
  EXPECT_EQ(Matrix<double>(data.data(), 20, 20, 20).mt(), 3);
}

TEST(Runtime, DescribesItsMachine) {
  const Runtime runtime(cpus(1));
  EXPECT_FALSE(runtime.joined());
  EXPECT_EQ(policy(), "tessera");
  EXPECT_EQ(placement(), Placement::Scheduler);
  EXPECT_THAT(starpu_version(), ::testing::StartsWith("1."));
  const auto all = devices();
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].kind, Device::Kind::Cpu);
  EXPECT_EQ(all[0].workers, 1);
  EXPECT_GT(all[0].memory, 0);
}

TEST(Runtime, OwnerWithoutGpusIsTheScheduler) {
  auto options = cpus(1);
  options.placement = Placement::Owner;
  const Runtime runtime(options);
  EXPECT_EQ(placement(), Placement::Scheduler);
  expect_right_product();
}

TEST(Runtime, StartsAndStopsAgainAndAgain) {
  for (int repeat = 0; repeat < 5; repeat++) {
    {
      const Runtime runtime(cpus(1 + repeat % 2));
      EXPECT_EQ(starpu_is_initialized(), 1);
      EXPECT_EQ(cpu_workers(), 1 + repeat % 2);
      expect_right_product();
    }
    EXPECT_EQ(starpu_is_initialized(), 0);
  }
}

TEST(Runtime, TheLastOfTwoStopsStarpu) {
  auto first = std::make_unique<Runtime>(cpus(1));
  auto second = std::make_unique<Runtime>(cpus(2));  // shares the workers of the first one
  EXPECT_EQ(cpu_workers(), 1);
  first.reset();
  EXPECT_EQ(starpu_is_initialized(), 1);
  expect_right_product();
  second.reset();
  EXPECT_EQ(starpu_is_initialized(), 0);
}

TEST(Runtime, OptionsOfASecondOneAreChecked) {
  const Runtime first(cpus(1));
  const auto expect_refused = [](const RuntimeOptions& options, const std::string& argument,
                                 const std::string& problem) {
    try {
      const Runtime second(options);
      ADD_FAILURE() << "accepted: " << problem;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.argument(), argument);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(problem));
    }
  };
  auto options = cpus(1);
  options.policy = "nonsense";
  expect_refused(options, "policy", "is 'nonsense', must be one of tessera");
  options = cpus(1), options.gpus = 99;
  expect_refused(options, "gpus", "is 99, but this machine has 0 that can be used (");
  expect_refused(cpus(10000), "cpus", "is 10000, must be a number from 0 to " + std::to_string(STARPU_MAXCPUS));
  expect_refused(cpus(0), "cpus", "nothing could compute");
  options = cpus(1), options.policy = "eager", options.placement = Placement::Home;
  expect_refused(options, "placement", "only the policy tessera");
  expect_right_product();
  const Environment environment{{"TESSERA_CPUS", "10000"}};
  expect_refused({}, "TESSERA_CPUS", "is '10000'");
}

TEST(RuntimeOptions, MoreCpusThanStarpuCanDriveAreRefused) {
  expect_no_start(cpus(10000), "cpus", "is 10000, must be a number from 0 to " + std::to_string(STARPU_MAXCPUS));
}

TEST(Runtime, AMatrixKeepsItAlive) {
  auto runtime = std::make_unique<Runtime>(cpus(1));
  std::vector<double> data(16);
  {
    const Matrix<double> matrix(data.data(), 4, 4, 4);
    runtime.reset();
    EXPECT_EQ(starpu_is_initialized(), 1);
  }
  EXPECT_EQ(starpu_is_initialized(), 0);
}

TEST(Runtime, StartsAfterAFailedStart) {
  expect_no_start(cpus(0), "cpus", "no GPU");
  const Runtime runtime(cpus(1));
  expect_right_product();
}

TEST(Runtime, CountsTileTasks) {
  auto options = cpus(1);
  options.tile = 10;
  const Runtime runtime(options);
  reset_statistics();
  expect_right_product();  // 4×6 tiles of C, 5 terms
  EXPECT_EQ(statistics().tasks, 120);
  reset_statistics();
  EXPECT_EQ(statistics().tasks, 0);
}

TEST(Runtime, CountsThePolicysActionsSinceTheReset) {
  auto options = cpus(1);
  options.tile = 10;
  const Runtime runtime(options);
  expect_right_product();
  reset_statistics();
  expect_right_product();
  const auto done = statistics();
  EXPECT_GT(done.seconds, 0);
  EXPECT_TRUE(done.links.empty());  // all tiles stay on the host
  ASSERT_TRUE(done.policy);
  EXPECT_EQ(done.policy->tasks, 120);
  EXPECT_GT(done.policy->in_push, 0);
  constexpr int threads = 2;  // this one and the worker; one of them may wait while the other is inside
  EXPECT_LT(done.policy->in_push, threads * done.seconds);
  EXPECT_LT(done.policy->in_pop, threads * done.seconds);
  reset_statistics();
  EXPECT_EQ(statistics().policy->tasks, 0);
}

TEST(Runtime, HasNoCountsOfAnotherPolicy) {
  auto options = cpus(1);
  options.policy = "eager";
  const Runtime runtime(options);
  expect_right_product();
  EXPECT_FALSE(statistics().policy);
}

/// While the last Runtime ends, two threads need a session: one starts it, the other takes it.
TEST(RuntimeDeathTest, AllThreadsGetTheNextSession) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto in_child = [] {
    auto runtime = std::make_unique<Runtime>(cpus(1));
    std::thread ender([&] { runtime.reset(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // StarPU is shutting down
    std::atomic<int> done = 0;
    for (int thread = 0; thread < 2; thread++)
      std::thread([&] {
        cpu_workers();
        done++;
      }).detach();
    ender.join();
    for (int i = 0; i < 60000 && done < 2; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::_Exit(done == 2 ? 0 : 1);
  };
  EXPECT_EXIT(in_child(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::test
