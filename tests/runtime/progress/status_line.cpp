// SPDX-License-Identifier: BSD-3-Clause
// The status line on a terminal and in a file, with times that the test sets.
#include "runtime/progress/status_line.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <optional>

#include "runtime/progress/ticker.hpp"
#include "standard_error.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace tessera::test::status_line_cpp {
namespace {

using runtime::StatusLine;
using namespace std::chrono_literals;
using ::testing::ElementsAre, ::testing::IsEmpty;

const StatusLine::Clock::time_point begin{1h};

TEST(StatusLineOnATerminal, IsWrittenOverAndCleared) {
  Terminal terminal;
  StatusLine line(terminal.descriptor());
  EXPECT_TRUE(line.in_place());
  line.start(begin);
  line.show("one and a half", begin + 1s);
  line.show("two", begin + 1200ms);
  EXPECT_THAT(on_screen(terminal.all()), ElementsAre("two"));
  line.clear();
  EXPECT_THAT(on_screen(terminal.all()), ElementsAre(""));
  line.print("a result");
  EXPECT_THAT(on_screen(terminal.all()), ElementsAre("a result", ""));
}

TEST(StatusLineOnATerminal, WaitsASecond) {
  Terminal terminal;
  StatusLine line(terminal.descriptor());
  line.start(begin);
  line.show("too early", begin + 999ms);
  line.clear();
  EXPECT_FALSE(line.shown());
  EXPECT_EQ(terminal.all(), "");
}

TEST(StatusLineOnATerminal, WritesNothingTwice) {
  Terminal terminal;
  StatusLine line(terminal.descriptor());
  for (int i = 0; i < 3; i++) line.show("same", begin);
  for (int i = 0; i < 3; i++) line.clear();
  EXPECT_EQ(terminal.all(), std::string(erase) + "same" + erase);
}

TEST(StatusLineOnATerminal, IsCutToTheWindow) {
  Terminal terminal(20);
  StatusLine line(terminal.descriptor());
  line.show(std::string(100, 'x'), begin);
  EXPECT_EQ(on_screen(terminal.all()).back(), std::string(19, 'x'));
  terminal.resize(31);
  line.show(std::string(100, 'x'), begin);
  EXPECT_EQ(on_screen(terminal.all()).back(), std::string(30, 'x'));
  terminal.resize(0);  // the terminal does not report its width
  EXPECT_EQ(line.width(), 79);
}

TEST(StatusLineInAFile, IsAFullLineEveryFiveSeconds) {
  LogFile file;
  StatusLine line(file.descriptor());
  EXPECT_FALSE(line.in_place());
  line.start(begin);
  for (int tenth = 0; tenth <= 160; tenth++) line.show(std::to_string(tenth), begin + tenth * 100ms);
  EXPECT_EQ(file.all(), "50\n100\n150\n");
  EXPECT_TRUE(line.shown());
  line.clear();
  line.print("end");
  EXPECT_EQ(file.all(), "50\n100\n150\nend\n");
}

TEST(StatusLineInAFile, IsNotCut) {
  LogFile file;
  StatusLine line(file.descriptor());
  line.show(std::string(1000, 'x'), begin);
  EXPECT_EQ(file.all(), std::string(1000, 'x') + "\n");
}

TEST(StatusLineOnADumbTerminal, IsNotWrittenOver) {
  const Environment environment{{"TERM", "dumb"}};
  const Terminal terminal;
  EXPECT_FALSE(StatusLine(terminal.descriptor()).in_place());
}

/// The destructor waits for a running tick, and no other tick follows: the objects that a tick uses are destroyed when
/// it returns.
TEST(Ticker, TicksUntilItIsDestroyed) {
  const auto ticks = std::make_shared<std::atomic<int>>(0);
  Gate last_tick;
  std::optional<runtime::Ticker> ticker(std::in_place, [ticks, &last_tick] {
    if (*ticks < 0 || ++*ticks < 3) return;
    ticks->notify_all();
    last_tick.wait();
    *ticks = -1;
  });
  for (int seen = 0; (seen = *ticks) < 3;) ticks->wait(seen);
  const auto opener = std::async(std::launch::async, [&] { last_tick.open(); });
  ticker.reset();
  EXPECT_EQ(*ticks, -1);
  EXPECT_EQ(ticks.use_count(), 1);
}

TEST(Ticker, SurvivesAClosedOutput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::signal(SIGPIPE, SIG_DFL);
  StatusLine line(ends[1]);
  std::atomic<int> ticks{0};
  {
    const runtime::Ticker ticker([&] {
      line.print("lost");
      ticks++;
      ticks.notify_all();
    });
    for (int seen = 0; (seen = ticks) < 2;) ticks.wait(seen);
  }
  close(ends[1]);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0) << "the program's own signals are as they were";
}

}  // namespace
}  // namespace tessera::test::status_line_cpp
