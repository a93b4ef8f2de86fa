// SPDX-License-Identifier: BSD-3-Clause
// tessera-info --blas: what it passes to the program and what it gets back.
#include <nlohmann/json.hpp>

#include "programs.hpp"

namespace tessera::blas_profile {

namespace {

using ::testing::AllOf, ::testing::EndsWith, ::testing::HasSubstr, ::testing::IsEmpty, ::testing::Not,
    ::testing::StartsWith;

constexpr int bad_arguments = 2, runtime_failed = 3;

TEST_F(BlasProgram, ReportsAfterTheOutputOfTheProgram) {
  const auto ended = blas({"log", "print", "hello"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(StartsWith("[hello]\n\noctave-cli-7.3.0 (process 4711), "), HasSubstr("dgemm"),
                               HasSubstr("gained: 2.00 s")));
  EXPECT_EQ(ended.err, "");
}

TEST_F(BlasProgram, PrintsOneObjectInTheLastLine) {
  const auto ended = info({"--json", "--blas", client_, "log", "print-unfinished"});
  EXPECT_EQ(ended.status, 0);
  ASSERT_THAT(ended.out, AllOf(StartsWith("no end\n{"), EndsWith("}\n")));
  const auto json = nlohmann::json::parse(ended.out.substr(ended.out.find('{')));
  EXPECT_EQ(json["totals"]["devices"]["calls"], 10);
  EXPECT_EQ(json["command"][2], "print-unfinished");
}

TEST_F(BlasProgram, HandsArgumentsOnUntouched) {
  const auto ended = blas(
      {"print", "--eval", "A * A", "", "--json", "--blas", "--help", "-h", "--", "--size=x", "\"'\\$HOME", "\xff"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, StartsWith("[--eval]\n[A * A]\n[]\n[--json]\n[--blas]\n[--help]\n[-h]\n[--]\n[--size=x]\n"
                                    "[\"'\\$HOME]\n[\xff]\n\nNo BLAS call came"));
}

TEST_F(BlasProgram, LooksForTheProgramInThePath) {
  const test::Environment path{{"PATH", client_.parent_path().c_str()}};
  EXPECT_THAT(info({"--blas", client_.filename(), "print", "found"}).out, StartsWith("[found]\n"));
}

TEST_F(BlasProgram, PreloadsTheLibrary) {
  const auto ended = blas({"state"});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("LD_PRELOAD=" + library_.string() + "\n"), HasSubstr("stand-in loaded\n"),
                               HasSubstr("TESSERA_BLAS_LOG=" + (temporary_ / "tessera-blas-log-").string())));
  EXPECT_EQ(ended.err, "");
}

TEST_F(BlasProgram, PreloadsTheLibraryBeforeOthers) {
  // ld.so only reports that this library does not exist. A sanitizer in tessera-info must be the first existing
  // library.
  const auto ended =
      test::run_program({"/usr/bin/env", "LD_PRELOAD=/nowhere/other.so", info_, "--blas", client_, "state"});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("LD_PRELOAD=" + library_.string() + ":/nowhere/other.so\n"),
                               HasSubstr("stand-in loaded\n")));
}

TEST_F(BlasProgram, FindsTheLibraryUnderTheNameOfItsVersion) {
  const auto versioned = scratch_ / "lib/libtessera_blas.so.0";
  fs::rename(library_, versioned);
  EXPECT_THAT(blas({"state"}).out, HasSubstr("LD_PRELOAD=" + versioned.string() + "\n"));
}

TEST_F(BlasProgram, SaysWhereTheLibraryIsMissing) {
  fs::remove(library_);
  const auto ended = blas({"print", "started"});
  EXPECT_EQ(ended.status, runtime_failed);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, StartsWith("tessera-info: libtessera_blas.so is not in " + (scratch_ / "lib").string()));
}

TEST_F(BlasProgram, CannotPreloadFromAFolderWithASpace) {
  for (const char* folder : {"a folder", "a:folder"}) {
    fs::create_directory(scratch_ / folder);
    fs::copy(scratch_ / "bin", scratch_ / folder / "bin", fs::copy_options::recursive);
    fs::copy(scratch_ / "lib", scratch_ / folder / "lib", fs::copy_options::recursive);
    const auto ended = test::run_program({scratch_ / folder / "bin/tessera-info", "--blas", client_, "state"});
    EXPECT_EQ(ended.status, runtime_failed);
    EXPECT_THAT(ended.err, HasSubstr("a space or a colon"));
  }
}

TEST_F(BlasProgram, AppendsToTheLogOfTheUser) {
  const auto log = scratch_ / "log";
  test::write_file(log, "what was there\n");
  const test::Environment given{{"TESSERA_BLAS_LOG", log.c_str()}};
  const auto ended = blas({"elsewhere", "log"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("dgemm"), Not(HasSubstr("damaged"))));
  EXPECT_EQ(test::read_file(log), "what was there\n" + octave);
  // The second run reports only its own calls, but counts lines from the start of the file.
  const test::Environment worse{{"TEST_LOG", "a letter\n"}};
  EXPECT_THAT(blas({"log"}).out, AllOf(HasSubstr("line 5 of the log is damaged"), Not(HasSubstr("dgemm"))));
}

TEST_F(BlasProgram, TakesARelativeLog) {
  const test::Environment given{{"TESSERA_BLAS_LOG", "log-of-a-test"}};
  const auto log = fs::current_path() / "log-of-a-test";
  fs::remove(log);
  EXPECT_THAT(blas({"elsewhere", "state", "log"}).out, AllOf(HasSubstr(log.string() + "\n"), HasSubstr("dgemm")));
  EXPECT_EQ(test::read_file(log), octave);
  fs::remove(log);
}

TEST_F(BlasProgram, RefusesALogThatIsNoRegularFile) {
  for (const auto& [log, why] : {std::pair{scratch_ / "nowhere/log", "cannot be written: No such file or directory"},
                                 {scratch_.path(), "cannot be written: Is a directory"},
                                 {fs::path("/dev/null"), "is not a regular file"}}) {
    const test::Environment given{{"TESSERA_BLAS_LOG", log.c_str()}};
    const auto ended = blas({"print", "started"});
    EXPECT_EQ(ended.status, bad_arguments);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, AllOf(StartsWith("tessera-info: TESSERA_BLAS_LOG: '" + log.string()), HasSubstr(why)));
  }
}

TEST_F(BlasProgram, IgnoresAnEmptyNameOfALog) {
  const test::Environment given{{"TESSERA_BLAS_LOG", ""}};
  EXPECT_THAT(blas({"log"}).out, HasSubstr("dgemm"));
}

TEST_F(BlasProgram, ReturnsTheExitStatusOfTheProgram) {
  for (const int status : {0, 1, 3, 77, 255}) {
    const auto ended = blas({"log", "exit", std::to_string(status)});
    EXPECT_EQ(ended.status, status);
    EXPECT_THAT(ended.out, HasSubstr("dgemm"));
  }
}

TEST_F(BlasProgram, SaysThatTheProgramWasKilled) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGUSR1}) {
    const auto ended = blas({"kill", std::to_string(signal)});
    EXPECT_EQ(ended.status, 128 + signal);
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("was killed by signal " + std::to_string(signal)), HasSubstr("when a process exits")));
  }
}

TEST_F(BlasProgram, SaysWhyTheProgramCannotBeStarted) {
  test::write_file(scratch_ / "text", "not a program");
  const auto failed = [&](const std::string& program, int status, const std::string& why) {
    const auto ended = info({"--blas", program});
    EXPECT_EQ(ended.status, status);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err, "tessera-info: '" + program + "' cannot be started: " + why + "\n");
  };
  failed(scratch_ / "nowhere", 127, "No such file or directory");
  failed("tessera-no-such-program", 127, "No such file or directory");
  failed("", 127, "No such file or directory");
  failed(scratch_ / "text", 126, "Permission denied");
  fs::permissions(scratch_ / "text", fs::perms::owner_exec, fs::perm_options::add);
  failed(scratch_ / "text", 126, "Exec format error");
}

TEST_F(BlasProgram, RefusesInvalidArguments) {
  const auto refused = [&](std::vector<std::string> words, const std::string& why) {
    const auto ended = info(std::move(words));
    EXPECT_EQ(ended.status, bad_arguments);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, AllOf(StartsWith("tessera-info: "), HasSubstr(why)));
  };
  refused({"--blas"}, "PROGRAM is missing");
  refused({"--json", "--blas"}, "PROGRAM is missing");
  refused({"--blas=" + client_.string()}, "without '='");
  refused({"--size", "5", "--blas", client_}, "--size cannot be used with --blas");
  refused({"--gpus", "1", "--blas", client_}, "--gpus cannot be used with --blas");
  refused({"--nonsense", "--blas", client_}, "--nonsense");
}

TEST_F(BlasProgram, ExplainsItself) {
  for (const auto& words : {std::vector<std::string>{"--help"}, {"--help", "--blas", client_, "exit", "5"}}) {
    const auto ended = info(words);
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out, HasSubstr("--blas PROGRAM [ARGUMENT...]"));
  }
}

TEST_F(BlasProgram, NoticesThatStandardOutputCannotBeWritten) {
  const auto full = [&](const std::string& status) {
    return test::run_program(
        {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full", info_, "--blas", client_, "exit", status});
  };
  EXPECT_THAT(full("0").err, HasSubstr("tessera-info: standard output cannot be written"));
  EXPECT_EQ(full("0").status, runtime_failed);
  EXPECT_EQ(full("7").status, 7);
}

}  // namespace

}  // namespace tessera::blas_profile
