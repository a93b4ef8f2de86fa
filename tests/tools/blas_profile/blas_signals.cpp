// SPDX-License-Identifier: BSD-3-Clause
// tessera-info --blas outlives its program and then reports.
#include <optional>

#include "programs.hpp"

namespace tessera::info {

namespace {

using ::testing::AllOf, ::testing::HasSubstr;

/// A program in its own process group, as a shell starts it from a terminal.
class Started {
 public:
  explicit Started(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe(ends) != 0) throw RuntimeError("no pipe can be made");
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0), alarm(60);
      dup2(ends[1], STDOUT_FILENO), close(ends[0]), close(ends[1]);
      execv(arguments.front(), arguments.data());
      _exit(127);
    }
    close(ends[1]), output_ = ends[0];
  }
  ~Started() { close(output_); }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  pid_t process() const { return pid_; }
  pid_t group() const { return -pid_; }

  /// The output up to and including `end`, or all of it.
  std::string read_to(const std::optional<std::string>& end = {}) {
    std::string text;
    for (char letter = 0; (!end || !text.ends_with(*end)) && read(output_, &letter, 1) == 1;) text += letter;
    return text;
  }
  /// @return the exit status, or minus the signal
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

TEST_F(BlasProgram, SurvivesACtrlCThatEndsTheProgram) {
  for (const int signal : {SIGINT, SIGQUIT}) {
    Started started(command({"log", "wait"}));
    started.read_to("ready\n");
    kill(started.group(), signal);
    EXPECT_THAT(started.read_to(), AllOf(HasSubstr("killed by signal " + std::to_string(signal)), HasSubstr("dgemm")));
    EXPECT_EQ(started.wait(), 128 + signal);
  }
}

TEST_F(BlasProgram, WaitsForAProgramThatCatchesCtrlC) {
  Started started(command({"catch", "log", "exit", "5"}));
  started.read_to("ready\n");
  kill(started.process(),
       SIGINT);  // only to tessera-info, which must not forward it: a terminal sends it to the whole group
  kill(started.group(), SIGINT);
  EXPECT_THAT(started.read_to(), AllOf(HasSubstr("caught 2\n"), HasSubstr("dgemm")));
  EXPECT_EQ(started.wait(), 5);
}

TEST_F(BlasProgram, ForwardsRequestsToTerminate) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    Started started(command({"log", "wait"}));
    started.read_to("ready\n");
    kill(started.process(), signal);
    EXPECT_THAT(started.read_to(), AllOf(HasSubstr("killed by signal " + std::to_string(signal)), HasSubstr("dgemm")));
    EXPECT_EQ(started.wait(), 128 + signal);
  }
}

TEST_F(BlasProgram, LetsTheProgramCatchRequestsToTerminate) {
  Started started(command({"catch", "log", "exit", "6"}));
  started.read_to("ready\n");
  kill(started.process(), SIGTERM);
  EXPECT_THAT(started.read_to(), AllOf(HasSubstr("caught 15\n"), HasSubstr("dgemm")));
  EXPECT_EQ(started.wait(), 6);
}

TEST_F(BlasProgram, LeavesItsOwnSignalsToTheProgram) {
  EXPECT_THAT(blas({"state"}).out, HasSubstr("SIGINT not ignored\n"));
  // A background job of a script ignores Ctrl-C.
  auto words = command({"state"});
  words.insert(words.begin(), {"/bin/sh", "-c", "trap '' INT; exec \"$0\" \"$@\""});
  EXPECT_THAT(test::run_program(words).out, HasSubstr("SIGINT ignored\n"));
}

TEST_F(BlasProgram, LearnsHowTheProgramEndedWhereChildrenAreIgnored) {
  auto words = command({"log", "exit", "9"});
  words.insert(words.begin(), {"/usr/bin/env", "--ignore-signal=CHLD"});
  const auto ended = test::run_program(words);
  EXPECT_EQ(ended.status, 9);
  EXPECT_THAT(ended.out, HasSubstr("dgemm"));
}

}  // namespace

}  // namespace tessera::info
