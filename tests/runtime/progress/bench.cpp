// SPDX-License-Identifier: BSD-3-Clause
// tessera-bench shows one status line, shared by the program and the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>

#include "standard_error.hpp"
#include "support/environment.hpp"
#include "support/process.hpp"

namespace tessera::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf, ::testing::Contains, ::testing::Each, ::testing::HasSubstr, ::testing::IsEmpty,
    ::testing::MatchesRegex, ::testing::Not, ::testing::SizeIs, ::testing::StartsWith;

/// Two calls of a few seconds each, since OpenBLAS is told to use its slowest kernels.
const std::vector<std::string> slow{TESSERA_BENCH, "--size", "2500",     "--tile", "500",      "--cpus", "1",
                                    "--gpus",      "0",      "--repeat", "1",      "--warmup", "0"};

/// The output of the program, with standard output and standard error on the same terminal.
std::string on_terminal(const std::vector<std::string>& words, Terminal& terminal) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(200);
    dup2(terminal.descriptor(), STDOUT_FILENO), dup2(terminal.descriptor(), STDERR_FILENO);
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    terminal.all();  // empties the terminal's buffer, so that the program is not blocked
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << terminal.all();
  return terminal.all();
}

class ProgressOfTheBench : public ::testing::Test {
 protected:
  Environment slow_{{"OPENBLAS_CORETYPE", "Prescott"}, {"TERM", "xterm"}, {"TESSERA_PROGRESS", ""}};
};

TEST_F(ProgressOfTheBench, IsOneLineWithItsOwn) {
  Terminal terminal(120);
  const auto written = on_terminal(slow, terminal);
  const std::string call = "dgemm 2500x2500x2500, tessera: first call; [0-9]+ %, .*[0-9]+ of 125 tasks.*";
  const std::string repetition =
      "dgemm 2500x2500x2500, tessera: repetition 1/1[;,].* [0-9]+ %, .*[0-9]+ of 125 tasks.*";
  EXPECT_THAT(said(written), Contains(MatchesRegex(call)));
  EXPECT_THAT(said(written), Contains(MatchesRegex(repetition)));
  EXPECT_THAT(said(written), Contains(HasSubstr(" s left, ")));
  EXPECT_THAT(said(written), Each(Not(StartsWith("tessera: "))));
  EXPECT_THAT(on_screen(written), Each(Not(HasSubstr(" tasks")))) << "nothing of it stays";
  EXPECT_THAT(on_screen(written), Contains(StartsWith("dgemm       2500  tessera")));
  for (const auto& line : on_screen(written)) EXPECT_LE(line.size(), 200);
}

TEST_F(ProgressOfTheBench, OmitsWhatDoesNotFit) {
  Terminal terminal(72);
  const auto written = on_terminal(slow, terminal);
  EXPECT_THAT(said(written), Contains(HasSubstr("repetition 1/1; ")));
}

TEST_F(ProgressOfTheBench, IsNotShownIfSwitchedOff) {
  const Environment off{{"TESSERA_PROGRESS", "0"}};
  Terminal terminal;
  EXPECT_THAT(on_terminal(slow, terminal), Not(HasSubstr(erase)));
}

TEST_F(ProgressOfTheBench, IsNotShownInAFileUnlessAskedFor) {
  auto quick = slow;
  *(std::ranges::find(quick, "--size") + 1) = "1000";
  const auto ended = run_program(quick, 200);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
}

TEST_F(ProgressOfTheBench, IsFullLinesInAFileIfAskedFor) {
  const Environment on{{"TESSERA_PROGRESS", "1"}};
  auto longer = slow;
  *(std::ranges::find(longer, "--repeat") + 1) = "4";
  const auto ended = run_program(longer, 200);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("dgemm 2500x2500x2500, tessera: "));
  EXPECT_THAT(ended.err, Not(HasSubstr("\r")));
  EXPECT_THAT(ended.err, Not(HasSubstr("\ntessera: ")));
}

TEST_F(ProgressOfTheBench, RefusesOtherValues) {
  const Environment wrong{{"TESSERA_PROGRESS", "on"}};
  const auto ended = run_program({TESSERA_BENCH, "--size", "100", "--gpus", "0"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("TESSERA_PROGRESS) is 'on', must be 0 or 1"));
}

}  // namespace
}  // namespace tessera::test
