// SPDX-License-Identifier: BSD-3-Clause
// Options of the policy, and the messages about wrong ones.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "support/environment.hpp"
#include "support/starpu.hpp"

namespace tessera::test::policy_options_cpp {
namespace {

using ::testing::HasSubstr;

TEST(PolicyOptions, AreCheckedBeforeTheStart) {
  EXPECT_EQ(tessera_sched_check_options(), nullptr);
  const Environment environment{{"TESSERA_SCHED", "steal=maybe"}};
  EXPECT_THAT(tessera_sched_check_options(), HasSubstr("TESSERA_SCHED has 'steal=maybe'"));
}

TEST(PolicyOptions, ThatAreWrongStopTheRuntime) {
  const Environment environment{{"TESSERA_SCHED", "-steal,slots=0"}};
  RuntimeOptions options;
  options.cpus = 1, options.gpus = 0;
  try {
    const Runtime runtime(options);
    ADD_FAILURE() << "started";
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.argument(), "policy");
    EXPECT_THAT(error.what(), HasSubstr("TESSERA_SCHED has 'slots=0', must be slots=N"));
  }
  EXPECT_EQ(starpu_is_initialized(), 0);
  options.policy = "lws";  // lws does not read the options
  EXPECT_NO_THROW(Runtime{options});
}

/// A StarPU program whose environment selects its scheduling policy. Ends the process, with status 0 if that policy is
/// `policy`.
[[noreturn]] void run_any_program(const char* policy, std::initializer_list<std::pair<const char*, const char*>> more) {
  Dl_info library{};
  dladdr(reinterpret_cast<void*>(&tessera_sched_policy), &library);
  setenv("STARPU_SCHED_LIB", library.dli_fname, 1);
  setenv("STARPU_SCHED", "tessera", 1);
  setenv("STARPU_NCPU", "2", 1);
  for (const auto& [name, value] : more) setenv(name, value, 1);
  if (starpu_init(nullptr) != 0) _exit(2);
  int done = 0;
  Numbers chain;
  for (std::uint64_t i = 0; i < 100; i++) submit(link_of(chain, i, [&] { done++; }));
  starpu_task_wait_for_all();
  const bool right = done == 100 && std::string(policy) == starpu_sched_get_sched_policy()->policy_name;
  if (!right) std::fprintf(stderr, "%d tasks under %s\n", done, starpu_sched_get_sched_policy()->policy_name);
  _exit(right ? 0 : 1);
}

TEST(PolicyPluginDeathTest, IsLoadedByAnyProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_any_program("tessera", {}), ::testing::ExitedWithCode(0), "");
}

TEST(PolicyPluginDeathTest, DeclinesWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_any_program("lws", {{"TESSERA_SCHED", "steal=maybe"}}), ::testing::ExitedWithCode(0),
              "TESSERA_SCHED has 'steal=maybe', must be steal or -steal");
  EXPECT_EXIT(run_any_program("lws", {{"TESSERA_SCHED_STEAL", "off"}}), ::testing::ExitedWithCode(0),
              "TESSERA_SCHED_STEAL is no longer read: use TESSERA_SCHED=-steal");
}

TEST(PolicyPluginDeathTest, LeavesOtherNamesToStarpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_any_program("eager", {{"STARPU_SCHED", "eager"}}), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::test::policy_options_cpp
