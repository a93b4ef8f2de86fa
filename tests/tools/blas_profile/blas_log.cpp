// SPDX-License-Identifier: BSD-3-Clause
// Reading the log of libtessera_blas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_lines.hpp"

namespace tessera::blas_profile {

namespace {

using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::IsEmpty, ::testing::SizeIs;

/// Why the third line of a log is invalid, if it follows a header and a valid line.
std::string damage_of(const std::string& line) {
  const auto log = read_log(octave_header + octave_large + line + "\n" + octave_small);
  EXPECT_EQ(log.processes.size(), 1u) << line;
  EXPECT_THAT(log.processes.at(0).calls, SizeIs(2)) << line;
  EXPECT_THAT(log.damaged, SizeIs(1)) << line;
  if (log.damaged.empty()) return "";
  EXPECT_EQ(log.damaged[0].line, 3u) << line;
  return log.damaged[0].why;
}

std::string with(std::string line, const std::string& what, const std::string& by) {
  line.pop_back();
  const auto at = line.find(what);
  EXPECT_NE(at, line.npos) << what;
  return line.replace(at, what.size(), by);
}

TEST(BlasLog, IsRead) {
  const auto log = read_log(octave);
  EXPECT_THAT(log.damaged, IsEmpty());
  ASSERT_THAT(log.processes, SizeIs(1));
  const auto& process = log.processes[0];
  EXPECT_EQ(process.id, 4711);
  EXPECT_EQ(process.program, "octave-cli-7.3.0");
  EXPECT_EQ(process.host_blas, "/usr/lib/libopenblas.so.0");
  EXPECT_EQ(process.devices, "4 NVIDIA H200, 1 CPU worker");
  EXPECT_EQ(process.trouble, "");
  EXPECT_EQ(process.seconds, 12.3);
  ASSERT_THAT(process.calls, SizeIs(2));
  EXPECT_EQ(process.calls[0].routine, "dgemm");
  EXPECT_THAT(process.calls[0].shape, ElementsAre(3000, 2000, 1000, std::nullopt));
  EXPECT_EQ(process.calls[0].place, Place::Devices);
  EXPECT_EQ(process.calls[0].calls, 10u);
  EXPECT_EQ(process.calls[0].seconds, 0.5);
  EXPECT_EQ(process.calls[0].flops, 1.2e11);
  EXPECT_EQ(process.calls[0].bytes, 1.1e8);
  EXPECT_EQ(process.calls[0].host_seconds, 2.5);
  EXPECT_THAT(process.calls[1].shape, ElementsAre(std::nullopt, 30, 20, std::nullopt));
  EXPECT_EQ(process.calls[1].place, Place::Host);
}

TEST(BlasLog, MayLackUnknownValues) {
  const auto log = read_log(
      R"({"process": 7, "program": "R", "host_blas": "b", "devices": "", "seconds": 1, "trouble": "No GPU answers."})"
      "\n"
      R"({"process": 7, "routine": "ztrsm", "m": null, "n": null, "k": null, "place": "devices", "calls": 1, )"
      R"("seconds": null, "flops": 2, "bytes": 3, "host_seconds": null})");  // without a newline
  EXPECT_THAT(log.damaged, IsEmpty());
  ASSERT_THAT(log.processes, SizeIs(1));
  EXPECT_EQ(log.processes[0].trouble, "No GPU answers.");
  ASSERT_THAT(log.processes[0].calls, SizeIs(1));
  EXPECT_THAT(log.processes[0].calls[0].shape, ElementsAre(std::nullopt, std::nullopt, std::nullopt, std::nullopt));
  EXPECT_EQ(log.processes[0].calls[0].seconds, std::nullopt);
  EXPECT_EQ(log.processes[0].calls[0].host_seconds, std::nullopt);
}

TEST(BlasLog, SeparatesProcessesThatWriteAtTheSameTime) {
  const auto other = [](std::string line) { return line.replace(line.find("4711"), 4, "4712"); };
  const auto log = read_log(octave_header + other(octave_header) + octave_large + other(octave_small) + octave_small);
  EXPECT_THAT(log.damaged, IsEmpty());
  ASSERT_THAT(log.processes, SizeIs(2));
  EXPECT_THAT(log.processes[0].calls, SizeIs(2));
  ASSERT_THAT(log.processes[1].calls, SizeIs(1));
  EXPECT_EQ(log.processes[1].calls[0].routine, "dsyrk");
}

TEST(BlasLog, SeparatesTheTwoLoadsOfTheLibraryInAProcess) {
  const auto log = read_log(octave + octave_header + octave_small);
  ASSERT_THAT(log.processes, SizeIs(2));
  EXPECT_THAT(log.processes[0].calls, SizeIs(2));
  EXPECT_THAT(log.processes[1].calls, SizeIs(1));
}

TEST(BlasLog, IsEmptyWithoutLines) {
  for (const char* text : {"", "\n", "\n \n\r\n"}) {
    const auto log = read_log(text);
    EXPECT_THAT(log.processes, IsEmpty());
    EXPECT_THAT(log.damaged, IsEmpty());
  }
}

TEST(BlasLog, SaysWhichLineIsDamagedAndWhy) {
  EXPECT_THAT(damage_of("a letter"), HasSubstr("not JSON"));
  EXPECT_THAT(damage_of(octave_large.substr(0, octave_large.size() / 2)), HasSubstr("not JSON"));
  EXPECT_THAT(damage_of(std::string("\0\xff", 2)), HasSubstr("not JSON"));
  EXPECT_THAT(damage_of(with(octave_large, "1.2e11", "1e999")), HasSubstr("not JSON"));
  EXPECT_THAT(damage_of("[1, 2]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(damage_of("{}"), HasSubstr("neither a program nor a routine"));
  EXPECT_EQ(damage_of(with(octave_large, R"("calls": 10, )", "")), R"("calls" is missing)");
  EXPECT_EQ(damage_of(with(octave_header, "12.3", "null")), R"("seconds" is missing)");
  EXPECT_EQ(damage_of(with(octave_large, "0.5", "-0.5")), R"("seconds" is -0.5, must be a number, 0 or more)");
  EXPECT_EQ(damage_of(with(octave_large, "0.5", R"("long")")), R"("seconds" is "long", must be a number, 0 or more)");
  EXPECT_EQ(damage_of(with(octave_large, "10,", "10.5,")), R"("calls" is 10.5, must be a whole number)");
  EXPECT_THAT(damage_of(with(octave_large, "10,", "1e300,")), HasSubstr("must be a whole number"));
  EXPECT_THAT(damage_of(with(octave_large, "10,", "18446744073709551615,")), HasSubstr("must be a whole number"));
  EXPECT_THAT(damage_of(with(octave_large, "3000", "-3000")), HasSubstr(R"("m" is -3000)"));
  EXPECT_EQ(damage_of(with(octave_large, R"("devices")", R"("moon")")),
            R"("place" is "moon", must be "host" or "devices")");
  EXPECT_EQ(damage_of(with(octave_large, "4711", "4712")), "process 4712 has no header before this line");
  EXPECT_THAT(damage_of(with(octave_header, R"("octave-cli-7.3.0")", "7")), HasSubstr("must be a string"));
}

TEST(BlasLog, CountsLinesFromTheStartOfItsFile) {
  const auto log = read_log(octave_header + "\nbad\n" + octave_small + "worse", 100);
  ASSERT_THAT(log.damaged, SizeIs(2));
  EXPECT_EQ(log.damaged[0].line, 102u);
  EXPECT_EQ(log.damaged[1].line, 104u);
}

TEST(BlasLog, IsSummedByRoutineShapeAndPlace) {
  const Shape small{10, 10, 10}, large{90, 90, 90};
  auto log = log_of({{"dgemm", small, Place::Host, 1, 0.1, 1, 10, 0.1},
                     {"dgemm", small, Place::Devices, 2, 0.2, 2, 20, 0.4},
                     {"dgemm", large, Place::Devices, 3, 0.5, 3, 30, 0.5},
                     {"sgemm", small, Place::Host, 4, 0.3, 4, 40, 0.3}});
  log.processes.push_back(log.processes[0]);
  log.processes[1].calls[2].host_seconds.reset();
  log.processes[1].calls[3].seconds = 9;
  const auto all = summed(log);
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[0].routine, "sgemm");
  EXPECT_EQ(all[0].calls, 8u);
  EXPECT_DOUBLE_EQ(all[0].seconds.value(), 9.3);
  EXPECT_EQ(all[0].flops, 8);
  EXPECT_EQ(all[0].bytes, 80);
  EXPECT_EQ(all[0].host_seconds, 0.6);
  EXPECT_EQ(all[1].shape, large);
  EXPECT_EQ(all[1].host_seconds, std::nullopt);  // unknown for one of the processes
  EXPECT_EQ(all[2].place, Place::Devices);
  EXPECT_EQ(all[2].host_seconds, 0.8);
  EXPECT_EQ(all[3].place, Place::Host);
}

}  // namespace

}  // namespace tessera::blas_profile
