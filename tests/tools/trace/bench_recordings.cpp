// SPDX-License-Identifier: BSD-3-Clause
// A recorded run of tessera-bench, compared with StarPU's own statistics.
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "trace/analysis/analysis.hpp"
#include "trace/input/read_run.hpp"
#include "trace/output/outputs.hpp"
#include "trace/words.hpp"
#include "trace_test.hpp"

namespace tessera::trace {

namespace {

test::Ended run_bench(std::vector<std::string> words, const std::map<std::string, std::string>& environment = {}) {
  words.insert(words.begin(), TEST_BENCH);
  return run_program({.words = words, .environment = environment, .seconds = 100});
}

/// @return its exit status
int bench(std::vector<std::string> words, const std::map<std::string, std::string>& environment = {}) {
  return run_bench(std::move(words), environment).status;
}

class Recorded : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch = std::make_unique<Scratch>();
    const auto folder = *scratch / "run";
    const auto ended = run_bench({"--size", "700", "--tile", "100", "--repeat", "1", "--trace", folder});
    ASSERT_EQ(ended.status, 0) << ended.err;
    printed = ended.out;
    const auto records = *scratch / "records";
    fs::create_directory(records);
    ASSERT_THAT(convert(folder, records), ::testing::IsEmpty());
    run = read_run(folder, records);
  }
  static void TearDownTestSuite() { scratch.reset(); }

  static inline std::unique_ptr<Scratch> scratch;
  static inline trace::Run run;
  static inline std::string printed;
};

TEST_F(Recorded, HasTheTasksOfOneCallWithTheirNames) {
  EXPECT_THAT(run.warnings, ::testing::IsEmpty());
  std::set<std::string> names;
  for (const auto& task : run.tasks) names.insert(name_of(run, task));
  EXPECT_EQ(names.size(), run.tasks.size());
  EXPECT_TRUE(names.contains("gemm C(3,5) k=2"));
  double flops = 0;
  for (const auto& task : run.tasks) flops += task.flops;
  EXPECT_NEAR(flops, 2.0 * 700 * 700 * 700, 0.01 * flops);
}

// The program prints the time of the call, and the shorter time that the report divides, each by its name.
TEST_F(Recorded, HasTheTimeOnTheTerminalThatItHasInTheReport) {
  const auto time = seconds(run.span) + " from the first submission to the end, ";
  const auto summary = trace::summary({run, analyse(run)});
  EXPECT_THAT(summary, ::testing::HasSubstr("\n  " + time));
  const auto in_summary = summary.substr(summary.find(time));
  EXPECT_THAT(printed, ::testing::ContainsRegex("recorded: a call of [0-9.e-]+ s, of which "));
  EXPECT_THAT(printed,
              ::testing::HasSubstr(", of which " + in_summary.substr(0, in_summary.find('\n')) + "; report: "));
}

TEST_F(Recorded, AgreesWithWhatStarPUHasCounted) {
  std::vector<std::uint64_t> tasks(run.workers.size());
  for (const auto& task : run.tasks) tasks.at(static_cast<std::size_t>(task.worker))++;
  EXPECT_EQ(tasks, run.counted.tasks);

  std::map<std::pair<int, int>, std::uint64_t> counted, seen, reported;
  for (const auto& link : run.counted.links)
    if (link.bytes > 0) counted[{link.from, link.to}] = link.bytes;
  for (const auto& transfer : run.transfers) seen[{transfer.from, transfer.to}] += transfer.bytes;
  for (const auto& link : analyse(run).links) reported[{link.from, link.to}] = link.bytes;
  EXPECT_EQ(seen, counted);
  EXPECT_EQ(reported, counted);
  if (run.nodes.size() > 1) EXPECT_FALSE(counted.empty());
}

TEST_F(Recorded, KnowsTheOperandOfEveryTransfer) {
  for (const auto& transfer : run.transfers) {
    EXPECT_THAT(transfer.operand, ::testing::AnyOf('A', 'B', 'C'));
    EXPECT_LE(transfer.asked, transfer.start);
    EXPECT_LE(transfer.start, transfer.end);
  }
}

TEST(RecordedTwice, RunsOfTheSameNameGetSeparateReports) {
  const Scratch scratch;
  ASSERT_EQ(bench({"--size", "150,150", "--repeat", "1", "--warmup", "0", "--trace", scratch / "run"}), 0);
  int reports = 0;
  for (const auto& run : fs::directory_iterator(scratch / "run"))
    reports += fs::exists(run.path() / "report.html") && fs::exists(run.path() / "prof_file_0");
  EXPECT_EQ(reports, 2);
}

TEST(RecordedTwice, NothingIsOverwrittenOrMixed) {
  const Scratch scratch;
  write_file(scratch / "notes", "mine");
  const auto refused = 2;
  EXPECT_EQ(bench({"--size", "50", "--trace", scratch.path()}), refused);
  EXPECT_EQ(bench({"--size", "50", "--trace", scratch / "notes"}), refused);
  EXPECT_EQ(bench({"--size", "50", "--trace", ""}), refused);
  EXPECT_EQ(bench({"--size", "50", "--trace", scratch / "run"}, {{"TESSERA_TRACE", scratch / "all"}}), refused);
  EXPECT_FALSE(fs::exists(scratch / "run") || fs::exists(scratch / "all"));
}

}  // namespace

}  // namespace tessera::trace
