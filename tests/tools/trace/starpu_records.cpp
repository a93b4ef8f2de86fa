// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/starpu_records.hpp"

#include <sstream>

#include "shared/formatting.hpp"
#include "trace/input/fields.hpp"
#include "trace/input/paje.hpp"
#include "trace/input/paje_lines.hpp"
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

TEST(Records, TakeNamesWithSeveralLines) {
  const Scratch scratch;
  write_file(
      scratch / "tasks.rec",
      "Name: two\nlines\n\nand: more\nWorkerId: 77\nModel: m\n\nx\nJobId: 5\nTag: 0\nWorkerId: 1\n\nName: \nJobId: "
      "6\n\nName: plain\nJobId: 7\n\n");
  const auto tasks = read_tasks(scratch / "tasks.rec");
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].name, "two\nlines\n\nand: more\nWorkerId: 77");
  EXPECT_EQ(tasks[0].job, 5);
  EXPECT_EQ(tasks[0].worker, 1);
  EXPECT_EQ(tasks[1].name, "");
  EXPECT_EQ(tasks[2].job, 7);
  write_file(scratch / "data.rec", "Handle: a0\nHomeNode: 0\nName: A\n\nB\nSize: 8\n\nHandle: b0\nName: \nSize: 9\n\n");
  const auto data = read_data(scratch / "data.rec");
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0].name, "A\n\nB");
  EXPECT_EQ(data[0].bytes, 8u);
  EXPECT_EQ(data[1].bytes, 9u);
}

class PajeNames : public ::testing::Test {
 protected:
  /// The lines of these events, concatenated and quoted.
  static std::vector<std::string> lines(const std::string& events) {
    std::istringstream in(
        "%EventDef PajeDefineEntityValue 6\n%\tAlias string\n%\tType string\n%\tName string\n%\tColor color\n"
        "%EndEventDef\n%EventDef PajeSetState 10\n%\tTime date\n%\tContainer string\n%\tType string\n"
        "%\tValue string\n%EndEventDef\n%EventDef PajeStartLink 24\n%\tTime date\n%\tHandle string\n"
        "%\tHName string\n%\tX string\n%EndEventDef\n%EventDef PajeSetVariable 13\n%\tTime date\n%\tValue "
        "double\n%EndEventDef\n" +
        events);
    std::vector<std::string> all;
    for (PajeLines read(in); read.next();)
      if (!read.line().starts_with('%')) all.push_back(read.line());
    return all;
  }
};

TEST_F(PajeNames, StayWhereTheyAre) {
  const std::vector<std::string> sound = {"6\tgemm\tWS\tgemm\t\"1 2 3\" ", "10\t1.0\tw0\tWS\t\"gemm\"",
                                          "10\t1.0\tt1\tS\tI", "24\t1.0\ta0\t\"A\"\t5", "13\t1.0\t7"};
  std::string text;
  for (const auto& line : sound) text += line + '\n';
  EXPECT_EQ(lines(text), sound);
}

TEST_F(PajeNames, MayHaveSeveralLines) {
  EXPECT_THAT(lines("10\t1.0\tw0\tWS\t\"a\n\n10 b\n99\tc\"\n13\t2.0\t7\n"),
              ElementsAre("10\t1.0\tw0\tWS\t\"a\\n\\n10 b\\n99\\tc\"", "13\t2.0\t7"));
  EXPECT_THAT(lines("6\ta\nb\tWS\ta\nb\t\"1 2 3\" \n13\t2.0\t7\n"),
              ElementsAre("6\t\"a\\nb\"\tWS\t\"a\\nb\"\t\"1 2 3\" ", "13\t2.0\t7"));
}

TEST_F(PajeNames, MayBeEmpty) {
  EXPECT_THAT(lines("6\t\tWS\t\t\"1 2 3\" \n10\t1.0\tw0\tWS\t\"\"\n"),
              ElementsAre("6\t\"unnamed\"\tWS\t\"unnamed\"\t\"1 2 3\" ", "10\t1.0\tw0\tWS\t\"unnamed\""));
}

TEST_F(PajeNames, AreAlsoThoseOfSchedulingContexts) {
  EXPECT_THAT(lines("6\t_12\tCtx12\t\t\"1 2 3\" \n6\ta\tWS\t\nb_3\tCtx3\ta\tWS\t\nb\t\"1 2 3\" \n"),
              ElementsAre("6\t\"unnamed_12\"\tCtx12\t\"unnamed\"\t\"1 2 3\" ",
                          "6\t\"a\\tWS\\t\\nb_3\"\tCtx3\t\"a\\tWS\\t\\nb\"\t\"1 2 3\" "));
}

TEST_F(PajeNames, MayHoldTabsQuotesAndBytesThatAreNoText) {
  EXPECT_THAT(lines("24\t1.0\ta0\t\"a\tb\"c\377\"\t5\n"), ElementsAre("24\t1.0\ta0\t\"a\\tb'c\\xff\"\t5"));
  EXPECT_THAT(lines("6\ta \"b\tWS\ta \"b\t\"1 2 3\" \n"), ElementsAre("6\t\"a 'b\"\tWS\t\"a 'b\"\t\"1 2 3\" "));
}

TEST_F(PajeNames, AreNotAllThatMayBeNoText) {
  EXPECT_THAT(lines("13\t2.0\t\xe2\x82\xac\377\t\t7\n"), ElementsAre("13\t2.0\t\xe2\x82\xac\\xff\t\t7"));
}

TEST(Text, IsReadable) {
  EXPECT_EQ(tools::readable("gemm \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"),
            "gemm \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82");
  EXPECT_EQ(tools::readable("a\nb\tc\x1b[0m\x7f"), "a\\nb\\tc\\x1b[0m\\x7f");
  // A lone byte, an overlong form, a surrogate, a number above the last one, and a character that is cut off.
  EXPECT_EQ(tools::readable("\xff|\xc0\xaf|\xe0\x80\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82"),
            "\\xff|\\xc0\\xaf|\\xe0\\x80\\xaf|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80|\\xe2\\x82");
  EXPECT_EQ(tools::readable(""), "unnamed");
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
  ASSERT_EQ(trace.transfers.size(), 7u);  // without those that have no start or no end
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
