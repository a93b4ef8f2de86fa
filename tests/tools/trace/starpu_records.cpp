// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/starpu_records.hpp"

#include "trace/input/fields.hpp"
#include "trace/input/paje.hpp"
#include "trace_test.hpp"

namespace tessera::trace {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const fs::path tiny = TEST_DATA "/tiny";

TEST(Fields, SplitsAtBlanksOutsideQuotes) {
  std::vector<std::string_view> words;
  split("  20\t1.5  \"two words\" \"\" last ", words);
  EXPECT_THAT(words, ElementsAre("20", "1.5", "two words", "", "last"));
  split("", words);
  EXPECT_THAT(words, IsEmpty());
  split("open \"to the end", words);
  EXPECT_THAT(words, ElementsAre("open", "to the end"));
}

TEST(Fields, TakesNumbersWhole) {
  EXPECT_EQ(number<int>("42"), 42);
  EXPECT_EQ(number<double>("1.500"), 1.5);
  EXPECT_FALSE(number<int>("42x"));
  EXPECT_FALSE(number<int>(""));
  EXPECT_EQ(hexadecimal<std::uint64_t>("56336f7b0980"), 0x56336f7b0980u);
}

TEST(Records, ReadsTasks) {
  const auto tasks = read_tasks(tiny / "tasks.rec");
  ASSERT_EQ(tasks.size(), 5u);  // paragraphs that only control StarPU are not tasks
  EXPECT_FALSE(tasks[0].of_the_program);
  const auto& task = tasks[1];
  EXPECT_TRUE(task.of_the_program);
  EXPECT_EQ(task.name, "gemm");
  EXPECT_EQ(task.job, 10);
  EXPECT_EQ(task.worker, 0);
  EXPECT_EQ(task.tag, 7u);
  EXPECT_DOUBLE_EQ(task.submitted, 0.1);
  EXPECT_DOUBLE_EQ(task.start, 0.103);
  EXPECT_DOUBLE_EQ(task.end, 0.105);
  EXPECT_DOUBLE_EQ(task.flops, 1e9);
  ASSERT_EQ(task.buffers.size(), 3u);
  EXPECT_EQ(task.buffers[2].handle, 0xc0u);
  EXPECT_EQ(task.buffers[2].bytes, 4194304u);
  EXPECT_TRUE(task.buffers[2].read && task.buffers[2].write && !task.buffers[2].scratch);
  EXPECT_TRUE(task.buffers[0].read && !task.buffers[0].write);
  EXPECT_TRUE(tasks[4].buffers[1].scratch);
  EXPECT_THAT(tasks[4].after, ElementsAre(12, 10, 1));
  EXPECT_EQ(tasks[2].worker, -1);
  EXPECT_LT(tasks[2].start, 0);
}

TEST(Records, ReadsDataAndPushes) {
  const auto data = read_data(tiny / "data.rec");
  ASSERT_EQ(data.size(), 5u);
  EXPECT_EQ(data[0].name, "A");
  EXPECT_THAT(data[0].coordinates, ElementsAre(2, 0));
  EXPECT_FALSE(data[0].temporary);
  EXPECT_TRUE(data[3].temporary);
  EXPECT_THAT(data[4].coordinates, IsEmpty());
  const auto pushes = read_pushes(tiny / "sched_tasks.rec");
  EXPECT_EQ(pushes.size(), 3u);  // not the tasks that were popped
  EXPECT_DOUBLE_EQ(pushes.at(12), 0.1051);
}

TEST(Records, ReportInvalidFiles) {
  const Scratch scratch;
  EXPECT_THAT(error_of([&] { read_tasks(scratch / "tasks.rec"); }), HasSubstr("tasks.rec: cannot be read"));
  write_file(scratch / "tasks.rec", "Name: gemm\nJobId: ten\n\n");
  EXPECT_THAT(error_of([&] { read_tasks(scratch / "tasks.rec"); }), HasSubstr("'ten' is not what StarPU writes"));
  write_file(scratch / "tasks.rec", "no colon\n\n");
  EXPECT_THAT(error_of([&] { read_tasks(scratch / "tasks.rec"); }), HasSubstr("'no colon' is not"));
}

TEST(Paje, GoesByItsOwnDefinitions) {
  const Scratch scratch;
  write_file(
      scratch / "paje.trace",
      "%EventDef PajeSetVariable 77\n%\tValue double\n%\tUnheard string\n%\tType string\n%\tTime date\n%\tContainer "
      "string\n%EndEventDef\n77 1.5 x use 2000 mm3\n");
  const auto trace = read_paje(scratch / "paje.trace");
  ASSERT_EQ(trace.memory.size(), 1u);
  EXPECT_EQ(trace.memory[0].node, 3);
  EXPECT_DOUBLE_EQ(trace.memory[0].time, 2);
  EXPECT_DOUBLE_EQ(trace.memory[0].bytes, 1.5 * (1 << 20));
}

TEST(Paje, ReadsThePartsThatTheRecordsLack) {
  const auto trace = read_paje(tiny / "paje.trace");
  EXPECT_EQ(trace.nodes, 3);
  ASSERT_EQ(trace.workers.size(), 3u);
  EXPECT_EQ(trace.workers.at(1).device, "CUDA");
  EXPECT_EQ(trace.workers.at(1).node, 2);
  EXPECT_EQ(trace.workers.at(2).device, "CPU");
  EXPECT_EQ(trace.colours.at("gemm"), 0x4477aau);
  EXPECT_TRUE(trace.whole);
  EXPECT_EQ(trace.flushes, 1);
  EXPECT_NEAR(trace.flushing, 0.25e-3, 1e-9);
  EXPECT_EQ(trace.registrations.size(), 7u);
  EXPECT_DOUBLE_EQ(trace.end, 0.12);
  ASSERT_EQ(trace.transfers.size(), 7u);  // without those that lack a start or an end
  EXPECT_EQ(trace.transfers[1].kind, "PF");
  EXPECT_FALSE(trace.transfers[1].evicts);
  EXPECT_TRUE(trace.transfers[4].evicts);  // also within a nested state
}

TEST(Paje, KnowsThatTheEndIsMissing) {
  const Scratch scratch;
  auto text = read_file(tiny / "paje.trace");
  write_file(scratch / "paje.trace", text.substr(0, text.find("8\t120.000000000\tt103")) + "8\t120.00");  // half a line
  EXPECT_FALSE(read_paje(scratch / "paje.trace").whole);
}

TEST(Paje, ReportsInvalidFiles) {
  const Scratch scratch;
  const auto complaint = [&](const std::string& text) {
    write_file(scratch / "paje.trace", text);
    return error_of([&] { read_paje(scratch / "paje.trace"); });
  };
  const std::string definition =
      "%EventDef PajeSetVariable 13\n%\tTime date\n%\tContainer string\n%\tType string\n%\tValue "
      "double\n%EndEventDef\n";
  EXPECT_THAT(complaint(""), HasSubstr("is not a trace for ViTE"));
  EXPECT_THAT(complaint("words\n"), HasSubstr("line 1 is not what StarPU writes"));
  EXPECT_THAT(complaint(definition + "13 now mm0 use 1\n"), HasSubstr("line 7 is not"));
  EXPECT_THAT(complaint(definition + "13 1.0 mm0 use\n"), HasSubstr("line 7 is not"));
  EXPECT_THAT(complaint(definition + "13 1.0 somewhere use 1\n"), HasSubstr("line 7 is not"));
  EXPECT_THAT(complaint(definition + "14 1.0 mm0 use 1\n"), HasSubstr("line 7 is not"));
  EXPECT_EQ(complaint(definition + "13 1.0 mm0 use 1\n"), "");
}

}  // namespace

}  // namespace tessera::trace
