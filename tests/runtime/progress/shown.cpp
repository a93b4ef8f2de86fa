// SPDX-License-Identifier: BSD-3-Clause
// The progress on standard error, which is shown if the program asks for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/error.hpp>

#include "held_product.hpp"
#include "runtime/progress/display.hpp"
#include "set_clock.hpp"
#include "standard_error.hpp"
#include "support/environment.hpp"
#include "support/runtime.hpp"

namespace tessera::test::shown_cpp {
namespace {

using namespace std::chrono_literals;
using runtime::ProgressDisplay;
using ::testing::ElementsAre;

RuntimeOptions options(std::optional<bool> progress) {
  auto options = with_tile(10);
  options.cpus = 1, options.gpus = 0;
  options.progress = progress;
  return options;
}

const std::string waiting = "tessera: 0 %, 0 of 8 tasks";

/// Time passes only when a test advances it.
class ProgressLine : public ::testing::Test {
 protected:
  SetClock clock_;
};

TEST_F(ProgressLine, AppearsOnATerminalDuringACall) {
  Terminal terminal;
  const Redirected redirected(terminal);
  const Runtime runtime(options(false));
  ProgressDisplay display;
  for (int call = 0; call < 2; call++) {
    HeldProduct product;
    display.look();
    clock_.advance(999ms);
    display.look();
    EXPECT_THAT(on_screen(terminal.all()), ElementsAre("")) << "too early";
    clock_.advance(1ms);
    display.look();
    EXPECT_THAT(on_screen(terminal.all()), ElementsAre(waiting));
    product.finish();
    display.look();
    EXPECT_THAT(on_screen(terminal.all()), ElementsAre(""));
  }
  EXPECT_THAT(said(terminal.all()), ElementsAre(waiting, waiting));
}

TEST_F(ProgressLine, IsRemovedBeforeTheRuntimeEnds) {
  Terminal terminal;
  const Redirected redirected(terminal);
  {
    const Runtime runtime(options(true));
    const HeldProduct product;
    clock_.advance(1s);
    ASSERT_TRUE(terminal.waits_for(waiting));
  }
  EXPECT_THAT(on_screen(terminal.all()), ElementsAre(""));
}

TEST_F(ProgressLine, IsAFullLineInAFileAndOneMoreAtTheEnd) {
  LogFile file;
  const Redirected redirected(file);
  const Runtime runtime(options(false));
  ProgressDisplay display;
  HeldProduct product;
  display.look();
  clock_.advance(4999ms);
  display.look();
  EXPECT_EQ(file.all(), "");
  clock_.advance(1ms);
  display.look();
  EXPECT_EQ(file.all(), waiting + "\n");
  product.finish();
  display.look();
  EXPECT_EQ(file.all(), waiting + "\ntessera: 100 %, 8 tasks in 5.00 s, 0.00 GFLOP/s\n");
}

TEST_F(ProgressLine, IsNotShownForShortCalls) {
  Terminal terminal;
  const Redirected redirected(terminal);
  const Runtime runtime(options(false));
  ProgressDisplay display;
  for (int call = 0; call < 3; call++) {
    const HeldProduct product;
    display.look();
    clock_.advance(999ms);
    display.look();
  }
  EXPECT_EQ(terminal.all(), "");
}

/// Calls are counted if the progress is shown, and not otherwise.
bool is_counted(std::optional<bool> progress) {
  const Runtime runtime(options(progress));
  const auto before = runtime::progress_now().period;
  const HeldProduct product;
  return runtime::progress_now().period != before;
}

TEST_F(ProgressLine, IsNotShownUnlessAskedFor) {
  const Environment environment{{"TESSERA_PROGRESS", ""}};
  EXPECT_FALSE(is_counted({}));
  EXPECT_TRUE(is_counted(true));
}

TEST_F(ProgressLine, IsAskedForByTheEnvironment) {
  const Environment environment{{"TESSERA_PROGRESS", "1"}};
  EXPECT_TRUE(is_counted({}));
  Terminal terminal;
  const Redirected redirected(terminal);
  const Runtime runtime(options({}));
  const HeldProduct product;
  clock_.advance(1s);
  EXPECT_TRUE(terminal.waits_for(waiting));
}

TEST_F(ProgressLine, OptionsComeBeforeTheEnvironment) {
  const Environment environment{{"TESSERA_PROGRESS", "1"}};
  EXPECT_FALSE(is_counted(false));
}

TEST_F(ProgressLine, OtherValuesAreRefused) {
  for (const char* value : {"yes", "2", "-1", "01", " 1"}) {
    const Environment environment{{"TESSERA_PROGRESS", value}};
    try {
      const Runtime runtime(options({}));
      ADD_FAILURE() << "started with " << value;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.position(), 0);
      EXPECT_EQ(error.argument(), "TESSERA_PROGRESS");
      EXPECT_THAT(error.what(), ::testing::HasSubstr("'" + std::string(value) + "', must be 0 or 1"));
    }
  }
}

TEST_F(ProgressLine, RuntimesComeAndGoWithIt) {
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
