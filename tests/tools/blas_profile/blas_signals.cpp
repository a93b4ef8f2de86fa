// SPDX-License-Identifier: BSD-3-Clause
// tessera-info --blas outlives its program and then reports.
#include "programs.hpp"

namespace tessera::blas_profile {

namespace {

using ::testing::AllOf, ::testing::HasSubstr;

/// A program in its own process group, as a shell starts it from a terminal.
class Started {
 public:
  explicit Started(const std::vector<std::string>& words) : pid_(fork()) {
    if (pid_ == 0) {
      setpgid(0, 0), alarm(150);
      dup2(output_.writer(), STDOUT_FILENO);
      test::execute(words);
    }
    output_.close_writer();
  }

  pid_t process() const { return pid_; }
  pid_t group() const { return -pid_; }
  const test::CapturedOutput& output() const { return output_; }
  int wait() const { return test::wait_for(pid_); }

 private:
  test::CapturedOutput output_;
  pid_t pid_;
};

class BlasSignals : public BlasProgram {
 protected:
  /// Starts a waiting program and sends a signal to a process or group of it, which must end the program.
  void expect_end_by(int signal, pid_t (Started::*target)() const) const {
    const Started started(command({"log", "wait"}));
    started.output().read_to("ready\n");
    kill((started.*target)(), signal);
    EXPECT_THAT(started.output().read_all(),
                AllOf(HasSubstr("killed by signal " + std::to_string(signal)), HasSubstr("dgemm")));
    EXPECT_EQ(started.wait(), 128 + signal);
  }
};

TEST_F(BlasSignals, SurvivesACtrlCThatEndsTheProgram) {
  for (const int signal : {SIGINT, SIGQUIT}) expect_end_by(signal, &Started::group);
}

TEST_F(BlasSignals, ForwardsRequestsToTerminate) {
  for (const int signal : {SIGTERM, SIGHUP}) expect_end_by(signal, &Started::process);
}

TEST_F(BlasSignals, WaitsForAProgramThatCatchesCtrlC) {
  const Started started(command({"catch", "log", "exit", "5"}));
  started.output().read_to("ready\n");
  // The first signal reaches only tessera-info, which must not forward it: a terminal sends it to the whole group.
  kill(started.process(), SIGINT);
  kill(started.group(), SIGINT);
  EXPECT_THAT(started.output().read_all(), AllOf(HasSubstr("caught 2\n"), HasSubstr("dgemm")));
  EXPECT_EQ(started.wait(), 5);
}

TEST_F(BlasSignals, LetsTheProgramCatchRequestsToTerminate) {
  const Started started(command({"catch", "log", "exit", "6"}));
  started.output().read_to("ready\n");
  kill(started.process(), SIGTERM);
  EXPECT_THAT(started.output().read_all(), AllOf(HasSubstr("caught 15\n"), HasSubstr("dgemm")));
  EXPECT_EQ(started.wait(), 6);
}

TEST_F(BlasSignals, LeavesItsOwnSignalsToTheProgram) {
  EXPECT_THAT(blas({"state"}).out, HasSubstr("SIGINT not ignored\n"));
  // A background job of a script ignores Ctrl-C.
  auto words = command({"state"});
  words.insert(words.begin(), {"/bin/sh", "-c", "trap '' INT; exec \"$0\" \"$@\""});
  EXPECT_THAT(test::run_program(words).out, HasSubstr("SIGINT ignored\n"));
}

TEST_F(BlasSignals, ReportsTheExitStatusEvenIfSigchldIsIgnored) {
  auto words = command({"log", "exit", "9"});
  words.insert(words.begin(), {"/usr/bin/env", "--ignore-signal=CHLD"});
  const auto ended = test::run_program(words);
  EXPECT_EQ(ended.status, 9);
  EXPECT_THAT(ended.out, HasSubstr("dgemm"));
}

}  // namespace

}  // namespace tessera::blas_profile
