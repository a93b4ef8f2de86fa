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

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Wrong {
  const char *variable, *value, *allowed;
};

const Wrong wrong_options[] = {{"TESSERA_SCHED_SLOTS", "0", "a number from 1 to 1024"},
                               {"TESSERA_SCHED_SLOTS", "1025", "a number from 1 to 1024"},
                               {"TESSERA_SCHED_SLOTS", "many", "a number from 1 to 1024"},
                               {"TESSERA_SCHED_SLOTS", "8x", "a number from 1 to 1024"},
                               {"TESSERA_SCHED_WINDOW", "-1", "a number from 1 to 1024"},
                               {"TESSERA_SCHED_LOCALITY", "yes", "on or off"},
                               {"TESSERA_SCHED_CHAINS", "1", "on or off"},
                               {"TESSERA_SCHED_PREFETCH", "ON", "on or off"},
                               {"TESSERA_SCHED_LOOKAHEAD", "101", "a number from 0 to 100"},
                               {"TESSERA_SCHED_LOOKAHEAD", "99999999999", "a number from 0 to 100"},
                               {"TESSERA_SCHED_PEERS", " ", "on or off"},
                               {"TESSERA_SCHED_WAIT", "off ", "on or off"},
                               {"TESSERA_SCHED_STEAL", "no", "on or off"},
                               {"TESSERA_SCHED_DECLINE", "0", "on or off"},
                               {"TESSERA_SCHED_WRITE_BACK", "true", "on or off"}};

TEST(PolicyOptions, AreRightByDefault) { EXPECT_EQ(tessera_sched_check_options(), nullptr); }

TEST(PolicyOptions, OfWrongValuesNameTheAllowedOnes) {
  for (const auto& wrong : wrong_options) {
    const Environment environment{{wrong.variable, wrong.value}};
    const char* refusal = tessera_sched_check_options();
    ASSERT_NE(refusal, nullptr) << wrong.variable << '=' << wrong.value;
    EXPECT_THAT(refusal, AllOf(HasSubstr(wrong.variable), HasSubstr("'" + std::string(wrong.value) + "'"),
                               HasSubstr(wrong.allowed)));
  }
}

TEST(PolicyOptions, ThatAreEmptyAreNotSet) {
  const Environment environment{{"TESSERA_SCHED_SLOTS", ""}, {"TESSERA_SCHED_PEERS", ""}};
  EXPECT_EQ(tessera_sched_check_options(), nullptr);
}

TEST(PolicyOptions, OfUnknownNamesNameTheKnownOnes) {
  for (const char* unknown : {"TESSERA_SCHED_STEALING", "TESSERA_SCHED_", "TESSERA_SCHED_slots"}) {
    const Environment environment{{unknown, "on"}};
    const char* refusal = tessera_sched_check_options();
    ASSERT_NE(refusal, nullptr) << unknown;
    EXPECT_THAT(refusal, HasSubstr(unknown));
    for (const char* known : {"SLOTS", "WINDOW", "LOCALITY", "CHAINS", "PREFETCH", "LOOKAHEAD", "PEERS", "WAIT",
                              "STEAL", "DECLINE", "WRITE_BACK"})
      EXPECT_THAT(refusal, HasSubstr(known));
  }
}

TEST(PolicyOptions, ThatAreWrongStopTheRuntime) {
  for (const auto& wrong : {wrong_options[0], wrong_options[6], Wrong{"TESSERA_SCHED_STEALING", "on", "WRITE_BACK"}}) {
    const Environment environment{{wrong.variable, wrong.value}};
    RuntimeOptions options;
    options.cpus = 1, options.gpus = 0;
    try {
      const Runtime runtime(options);
      ADD_FAILURE() << "started with " << wrong.variable << '=' << wrong.value;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.argument(), "policy");
      EXPECT_THAT(error.what(), AllOf(HasSubstr(wrong.variable), HasSubstr(wrong.allowed)));
    }
    EXPECT_EQ(starpu_is_initialized(), 0);
    options.policy = "lws";  // that one does not read them
    EXPECT_NO_THROW(Runtime{options});
  }
}

/// A StarPU program whose environment chooses its scheduling policy. Ends the process, with 0 if that policy is
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
  EXPECT_EXIT(run_any_program("lws", {{"TESSERA_SCHED_STEAL", "maybe"}}), ::testing::ExitedWithCode(0),
              "TESSERA_SCHED_STEAL is 'maybe', must be on or off");
  EXPECT_EXIT(run_any_program("lws", {{"TESSERA_SCHED_STEALING", "on"}}), ::testing::ExitedWithCode(0),
              "TESSERA_SCHED_STEALING is no option of the policy; there are .*STEAL");
}

TEST(PolicyPluginDeathTest, LeavesOtherNamesToStarpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_any_program("eager", {{"STARPU_SCHED", "eager"}}), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::test::policy_options_cpp
