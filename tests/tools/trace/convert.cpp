// SPDX-License-Identifier: BSD-3-Clause
// Converting StarPU's recordings, and files that are not recordings.
#include "recorded_trace.hpp"
#include "trace/input/read_run.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Convert : public ::testing::Test {
 protected:
  void SetUp() override {
    if (recorded_trace().empty()) GTEST_SKIP() << "this StarPU cannot record traces";
    fs::create_directory(records());
  }
  fs::path records() const { return scratch_ / "records"; }
  void put(const std::string& trace, const char* name = "prof_file_0") const { write_file(scratch_ / name, trace); }
  trace::Run explain() const {
    auto warnings = convert(scratch_.path(), records());
    auto run = read_run(scratch_.path(), records());
    run.warnings.insert(run.warnings.end(), warnings.begin(), warnings.end());
    return run;
  }
  std::string complaint() const {
    std::string error;
    try {
      explain();
    } catch (const std::exception& caught) {
      error = caught.what();
    }
    EXPECT_FALSE(fs::exists(scratch_ / "report.html"));
    return error;
  }

  Scratch scratch_;
};

TEST_F(Convert, ReadsARecordedRun) {
  put(recorded_trace(), "prof_file_somebody_0");
  const auto run = explain();
  EXPECT_THAT(run.warnings, IsEmpty());
  EXPECT_EQ(run.title, "increase: 40 tasks on 2 CPU workers");
  EXPECT_EQ(run.routines[0].colour, 0x4477aau);
  ASSERT_EQ(run.tasks.size(), 40u);
  for (std::size_t i = 0; i < 40; i++) {
    const auto& task = run.tasks[i];
    EXPECT_EQ(task.row, static_cast<int>(i % 10));
    EXPECT_EQ(task.column, 3);
    EXPECT_LE(task.submitted, task.ready);
    EXPECT_LE(task.ready, task.start);
    EXPECT_LT(task.start, task.end);
    EXPECT_LE(task.end, run.span);
    ASSERT_EQ(task.accesses.size(), 2u);
    EXPECT_TRUE(task.accesses[1].write && !task.accesses[0].write);
    if (i >= 10) EXPECT_THAT(task.after, ::testing::Contains(static_cast<int>(i) - 10)) << i;
  }
  EXPECT_EQ(run.tiles.size(), 11u);
  EXPECT_EQ(run.tiles[0].bytes, 512u);
}

TEST_F(Convert, WritesColoursAndNamesForViTE) {
  put(recorded_trace());
  const auto ours = scratch_ / "paje.trace";
  write_for_vite(ours, explain());
  const auto text = read_file(ours);
  EXPECT_THAT(text, HasSubstr("\"increase\"\tDoes\t\"increase\"\t\"0.2667 0.4667 0.6667\"\n"));
  EXPECT_THAT(text, HasSubstr("\t\"increase tile(9,3)\"\n"));
  EXPECT_THAT(text, HasSubstr("\t\"CPU 1\"\n"));
  EXPECT_THAT(text, HasSubstr("\t\"host memory\"\n"));
}

TEST_F(Convert, ShowsATruncatedTraceAsFarAsItGoes) {
  const auto& whole = recorded_trace();
  std::size_t shown = 0, fewer = 0;
  for (std::size_t i = 0; i < 60; i++) {
    const auto size = i < 20 ? 1 + 37 * i : whole.size() * (i - 19) / 41;
    put(whole.substr(0, size));
    try {
      const auto run = explain();
      EXPECT_THAT(run.warnings, ::testing::Contains(HasSubstr("as far as the trace goes"))) << size;
      EXPECT_GE(run.span, 0);
      shown++, fewer += run.tasks.size() < 40;
    } catch (const RuntimeError& error) {
      EXPECT_THAT(error.what(), AnyOf(HasSubstr("cannot read it"), HasSubstr("no task is recorded"))) << size;
    }
  }
  EXPECT_GT(shown, 10u);
  EXPECT_GT(fewer, 5u);
}

TEST_F(Convert, SaysThatAProgramWasKilled) {
  put(recorded_trace().substr(0, recorded_trace().size() * 4 / 5));
  write_file(scratch_ / "run.json", R"({"format": "tessera-trace 1", "complete": false})");
  EXPECT_THAT(explain().warnings, ::testing::Contains(HasSubstr("The program did not end")));
  fs::remove(scratch_ / "prof_file_0");
  EXPECT_THAT(complaint(), HasSubstr("has not ended or was killed"));
}

TEST_F(Convert, NamesATraceOfSeveralProcesses) {
  for (const char* process : {"process-1", "process-0"}) fs::create_directory(scratch_ / process);
  EXPECT_THAT(complaint(),
              HasSubstr("traces of several processes: name one of them, such as " + (scratch_ / "process-0").string()));
}

TEST_F(Convert, RefusesFilesThatAreNoTraces) {
  EXPECT_THAT(complaint(), AllOf(HasSubstr("contains no trace (prof_file_0)"), HasSubstr("TESSERA_TRACE=")));
  put("");
  EXPECT_THAT(complaint(), HasSubstr("prof_file_0: is empty"));
  for (const auto& foreign : {std::string("Dear reader,\nthis is a letter.\n"), std::string(1 << 20, '\0'),
                              std::string(1 << 20, '\377'), read_file("/proc/self/exe")}) {
    put(foreign);
    EXPECT_THAT(complaint(),
                AllOf(HasSubstr("prof_file_0: StarPU"), HasSubstr("it is not a StarPU trace, or it is damaged")));
  }
  fs::remove(scratch_ / "prof_file_0");
  fs::create_directory(scratch_ / "prof_file_0");
  EXPECT_THAT(complaint(), HasSubstr("prof_file_0: is not a file"));
}

TEST_F(Convert, TakesOneTraceOnly) {
  put(recorded_trace());
  put(recorded_trace(), "prof_file_1");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("several traces, prof_file_0 and prof_file_1"), HasSubstr("keep only one")));
}

TEST_F(Convert, SurvivesDamage) {
  unsigned random = 1;
  for (int i = 0; i < 40; i++) {
    auto trace = recorded_trace();
    for (int j = 0; j < 5; j++) {
      random = random * 1664525 + 1013904223;
      trace[random % trace.size()] = static_cast<char>(random >> 24);
    }
    put(trace);
    error_of([&] { explain(); });
  }
}

}  // namespace

}  // namespace tessera::trace
