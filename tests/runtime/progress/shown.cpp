// SPDX-License-Identifier: BSD-3-Clause
// The progress that is shown on standard error if the program asks for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>

#include "held_product.hpp"
#include "standard_error.hpp"
#include "support/environment.hpp"
#include "support/runtime.hpp"

namespace tessera::test::shown_cpp {
namespace {

using namespace std::chrono_literals;
using ::testing::Each, ::testing::ElementsAre, ::testing::MatchesRegex, ::testing::Not, ::testing::IsEmpty;

RuntimeOptions options(std::optional<bool> progress) {
  auto options = with_tile(10);
  options.cpus = 1, options.gpus = 0;
  options.progress = progress;
  return options;
}

const std::string waiting = "tessera: 0 %, 0 of 8 tasks";

TEST(ProgressLine, IsShownOnATerminalWhileACallRunsAndThenRemoved) {
  Terminal terminal;
  const Redirected redirected(terminal);
  const Runtime runtime(options(true));
  for (int call = 0; call < 2; call++) {
    const auto before = terminal.all().size();
    HeldProduct product;
    ASSERT_TRUE(terminal.waits_for(std::string(erase) + waiting));
    EXPECT_THAT(on_screen(terminal.all()), ElementsAre(waiting));
    product.finish();
    ASSERT_TRUE(terminal.waits_for(erase));
    EXPECT_THAT(said(terminal.all().substr(before)), Each(MatchesRegex("tessera: .* of 8 tasks")));
    EXPECT_THAT(on_screen(terminal.all()), ElementsAre(""));
  }
}

TEST(ProgressLine, IsRemovedBeforeTheRuntimeEnds) {
  Terminal terminal;
  const Redirected redirected(terminal);
  {
    const Runtime runtime(options(true));
    const HeldProduct product;
    ASSERT_TRUE(terminal.waits_for(waiting));
  }
  EXPECT_THAT(on_screen(terminal.all()), ElementsAre(""));
}

TEST(ProgressLine, IsAFullLineInAFileAndOneMoreAtTheEnd) {
  LogFile file;
  const Redirected redirected(file);
  {
    const Runtime runtime(options(true));
    const HeldProduct product;
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(file.waits_for("\n"));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 4900ms);
    EXPECT_EQ(file.all(), waiting + "\n");
  }
  EXPECT_THAT(file.all(), MatchesRegex(waiting + "\ntessera: 100 %, 8 tasks in [0-9.]+ s, 0.00 GFLOP/s\n"));
}

TEST(ProgressLine, IsNotShownForShortCalls) {
  Terminal terminal;
  const Redirected redirected(terminal);
  const Runtime runtime(options(true));
  const std::vector<double> A(900), B(900);
  std::vector<double> C(900);
  using Clock = std::chrono::steady_clock;
  Clock::duration longest{};
  for (const auto begin = Clock::now(); Clock::now() - begin < 1500ms;) {
    const auto call = Clock::now();
    gemm<double>(Op::NoTrans, Op::NoTrans, 30, 30, 30, 1, A.data(), 30, B.data(), 30, 0, C.data(), 30);
    longest = std::max(longest, Clock::now() - call);
  }
  if (longest > 500ms) GTEST_SKIP() << "the machine is too busy for short calls";
  EXPECT_EQ(terminal.all(), "");
}

void expect_silence(std::optional<bool> progress) {
  Terminal terminal;
  const Redirected redirected(terminal);
  {
    const Runtime runtime(options(progress));
    const HeldProduct product;
    std::this_thread::sleep_for(1500ms);
  }
  EXPECT_EQ(terminal.all(), "");
}

TEST(ProgressLine, IsNotShownUnlessAskedFor) {
  unsetenv("TESSERA_PROGRESS");
  expect_silence({});
}

TEST(ProgressLine, IsAskedForByTheEnvironment) {
  const Environment environment{{"TESSERA_PROGRESS", "1"}};
  Terminal terminal;
  const Redirected redirected(terminal);
  const Runtime runtime(options({}));
  const HeldProduct product;
  EXPECT_TRUE(terminal.waits_for(waiting));
}

TEST(ProgressLine, OptionsComeBeforeTheEnvironment) {
  const Environment environment{{"TESSERA_PROGRESS", "1"}};
  expect_silence(false);
}

TEST(ProgressLine, OtherValuesAreRefused) {
  for (const char* value : {"yes", "2", "-1", "01", " 1"}) {
    const Environment environment{{"TESSERA_PROGRESS", value}};
    try {
      const Runtime runtime(options({}));
      ADD_FAILURE() << "started with " << value;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.position(), 7);
      EXPECT_EQ(error.argument(), "TESSERA_PROGRESS");
      EXPECT_THAT(error.what(), ::testing::HasSubstr("'" + std::string(value) + "', must be 0 or 1"));
    }
  }
}

TEST(ProgressLine, RuntimesComeAndGoWithIt) {
  Terminal terminal;
  const Redirected redirected(terminal);
  for (int repeat = 0; repeat < 10; repeat++) {
    const Runtime runtime(options(true));
    const HeldProduct product;
  }
  EXPECT_EQ(terminal.all(), "");
}

}  // namespace
}  // namespace tessera::test::shown_cpp
