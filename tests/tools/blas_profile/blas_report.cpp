// SPDX-License-Identifier: BSD-3-Clause
// The report of tessera-info --blas.
#include "blas_profile/blas_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "log_lines.hpp"

namespace tessera::blas_profile {

namespace {

using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not, ::testing::SizeIs;

BlasReport report_of(const Log& log) { return {{"./solver", "--fast"}, {}, log}; }
std::string text_of(const Log& log) { return blas_text(report_of(log)); }

/// The words of the first line that starts with `start`.
std::vector<std::string> words_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(start)) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  ADD_FAILURE() << "no line starts with '" << start << "' in\n" << text;
  return {};
}

TEST(BlasReport, ShowsProcessesTableAndTotals) {
  const auto text = text_of(read_log(octave));
  EXPECT_THAT(text, HasSubstr("octave-cli-7.3.0 (process 4711), 12.3 s from its first BLAS call to its end\n"
                              "  host BLAS: /usr/lib/libopenblas.so.0\n"
                              "  devices: 4 NVIDIA H200, 1 CPU worker\n"));
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of(text, "routine"), (Words{"routine", "m", "n", "k,", "nrhs", "place", "calls", "time", "[s]",
                                              "GFLOP/s", "GB", "on", "the", "host", "[s]"}));
  EXPECT_EQ(words_of(text, "dgemm"),
            (Words{"dgemm", "3000", "2000", "1000", "devices", "10", "0.500", "240", "0.110", "~2.50"}));
  EXPECT_EQ(words_of(text, "dsyrk"),
            (Words{"dsyrk", "-", "30", "20", "host", "1000", "0.750", "0.0253", "0.00840", "0.750"}));
  EXPECT_LT(text.find("dsyrk"), text.find("dgemm"));  // the longest time comes first
  EXPECT_THAT(text,
              AllOf(HasSubstr("on the host: 1000 calls, 0.750 s\n"), HasSubstr("on the devices: 10 calls, 0.500 s\n"),
                    HasSubstr("gained: 2.00 s (estimate); what took 0.500 s on the devices would have taken "
                              "~2.50 s on the host\n")));
}

TEST(BlasReport, ShowsRightSidesOfSolvers) {
  const auto text = text_of(read_log(
      octave_header + R"({"process": 4711, "routine": "dgesv", "n": 300, "nrhs": 7, "place": "devices", "calls": 2, )"
                      R"("seconds": 0.5, "flops": 3.8e7, "bytes": 1.5e6, "host_seconds": 1})"));
  const auto words = words_of(text, "dgesv");
  EXPECT_EQ((std::vector<std::string>(words.begin(), words.begin() + 6)),
            (std::vector<std::string>{"dgesv", "-", "300", "7", "devices", "2"}));
}

TEST(BlasReport, ShowsReusedBytes) {
  auto kept = octave_large;
  kept.insert(kept.rfind('}'), R"(, "reused_bytes": 5.5e7)");
  const auto text = text_of(read_log(octave_header + kept + octave_large + octave_small));
  EXPECT_THAT(words_of(text, "routine"), ::testing::Contains("reused"));
  EXPECT_EQ(words_of(text, "dgemm"), (std::vector<std::string>{"dgemm", "3000", "2000", "1000", "devices", "20", "1.00",
                                                               "240", "0.220", "0.0550", "~5.00"}));
}

TEST(BlasReport, ChoosesUnits) {
  const auto with = [](double flops, double bytes) {
    return text_of(log_of({{"dgemm", {10, 10, 10}, Place::Devices, 1, 2, flops, bytes, {}}}));
  };
  EXPECT_THAT(with(2e12, 1e8), AllOf(HasSubstr("TFLOP/s"), HasSubstr(" GB")));
  EXPECT_THAT(with(1.9e12, 9e7), AllOf(HasSubstr("GFLOP/s"), HasSubstr(" MB")));
}

TEST(BlasReport, MarksUnknownValues) {
  const auto text = text_of(log_of({{"dgemm", {}, Place::Devices, 3, 0, 5, 7, {}}}));
  EXPECT_EQ(words_of(text, "dgemm"),
            (std::vector<std::string>{"dgemm", "other", "shapes", "devices", "3", "0.00", "-", "0.00000700", "-"}));
  EXPECT_THAT(text, Not(HasSubstr("gained")));
  const auto untimed = text_of(log_of(
      {{"dgemm", {2, 3, 4}, Place::Host, 3, {}, 5, 2e6, {}}, {"sgemm", {2, 3, 4}, Place::Host, 3, 1, 2e9, 2e6, 1}}));
  EXPECT_EQ(words_of(untimed, "dgemm"),
            (std::vector<std::string>{"dgemm", "2", "3", "4", "host", "3", "-", "-", "2.00", "-"}));
  EXPECT_LT(untimed.find("sgemm"), untimed.find("dgemm"));
  EXPECT_THAT(untimed, HasSubstr("on the host: 6 calls, 1.00 s\n"));
}

TEST(BlasReport, DoesNotHideALoss) {
  const auto text = text_of(log_of(
      {{"dgemm", {1, 1, 1}, Place::Devices, 3, 5, 5, 7, 4}, {"dgemm", {2, 1, 1}, Place::Devices, 1, 5, 5, 7, {}}}));
  EXPECT_THAT(text, AllOf(HasSubstr("lost: 1.00 s (estimate); what took 5.00 s"),
                          HasSubstr("excluding 1 call without an estimate")));
}

TEST(BlasReport, SumsTheRowsAfterTheThirtieth) {
  std::vector<Calls> calls;
  for (int i = 1; i <= 33; i++) calls.push_back({"dgemm", {i, i, i}, Place::Host, 1, 1.0 * i, 1e9, 1e9, 1.0 * i});
  const auto thirty = text_of(log_of({calls.begin(), calls.begin() + 30}));
  EXPECT_THAT(thirty, Not(HasSubstr("other shape")));
  const auto text = text_of(log_of(calls));
  EXPECT_THAT(words_of(text, "and 3 other shapes"),
              ::testing::ElementsAre("and", "3", "other", "shapes", "3", "6.00", "0.500", "3.00", "6.00"));
  EXPECT_EQ(words_of(text, "dgemm")[1], "33");
  EXPECT_THAT(text, HasSubstr("on the host: 33 calls, 561 s\n"));
  calls[0].place = Place::Devices;
  EXPECT_EQ(words_of(text_of(log_of(calls)), "and 3").back(), "~6.00");
  calls[1].host_seconds.reset();
  EXPECT_EQ(words_of(text_of(log_of(calls)), "and 3").back(), "-");
}

TEST(BlasReport, ShowsTroubleOfEveryProcess) {
  auto log = log_of({{"dgemm", {1, 1, 1}, Place::Host, 1, 1, 1, 1, 1}});
  log.processes.resize(40, log.processes[0]);
  log.processes[0].devices = "";
  log.processes[39].trouble = "StarPU does not start: no memory.";
  const auto text = text_of(log);
  EXPECT_THAT(text, AllOf(HasSubstr("\n  devices: not started\n"),
                          HasSubstr("\n  trouble: StarPU does not start: no memory.\n"),
                          HasSubstr("\nand 29 other processes\n")));
}

TEST(BlasReport, ShowsDamagedLines) {
  auto log = read_log(octave_header + "a letter\n" + octave_small);
  EXPECT_THAT(text_of(log), AllOf(HasSubstr("line 2 of the log is damaged: it is not JSON\n"), HasSubstr("dsyrk")));
  log.damaged.resize(12, log.damaged[0]);
  EXPECT_THAT(text_of(log), HasSubstr("and 2 other damaged lines\n"));
  EXPECT_THAT(text_of(read_log("a letter")), Not(HasSubstr("No BLAS call")));
}

TEST(BlasReport, ExplainsWhyNoCallsArrived) {
  auto report = report_of({});
  EXPECT_THAT(blas_text(report),
              AllOf(HasSubstr("No BLAS call came through libtessera_blas.so"), HasSubstr("./solver"),
                    HasSubstr("statically"), HasSubstr("by dlsym"), HasSubstr("setuid"), Not(HasSubstr("killed"))));
  report.ended.signal = SIGSEGV;
  EXPECT_THAT(blas_text(report), AllOf(HasSubstr("./solver was killed by signal 11 (Segmentation fault)\n"),
                                       HasSubstr("the log is written when a process exits")));
}

TEST(BlasReport, IsJsonInOneLine) {
  auto report = report_of(read_log(octave + "a letter"));
  report.words.emplace_back("\xff");  // not UTF-8
  report.ended.signal = SIGTERM;
  const auto text = blas_json(report);
  EXPECT_EQ(text.find('\n'), text.npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["command"][1], "--fast");
  EXPECT_EQ(json["exit_status"], 143);
  EXPECT_EQ(json["signal"], 15);
  ASSERT_THAT(json["processes"], SizeIs(1));
  EXPECT_EQ(json["processes"][0]["program"], "octave-cli-7.3.0");
  EXPECT_TRUE(json["processes"][0]["trouble"].is_null());
  ASSERT_THAT(json["calls"], SizeIs(2));
  EXPECT_EQ(json["calls"][0], nlohmann::json::parse(R"({"routine": "dsyrk", "m": null, "n": 30, "k": 20, "nrhs": null,
    "place": "host", "calls": 1000, "seconds": 0.75, "flops": 1.9e7, "bytes": 8.4e6, "reused_bytes": 0, "host_seconds": 0.75})"));
  EXPECT_EQ(json["totals"]["host"]["calls"], 1000);
  EXPECT_EQ(json["totals"]["devices"]["flops"], 1.2e11);
  EXPECT_EQ(json["totals"]["gained_seconds"], 2.0);
  EXPECT_EQ(json["damaged"], nlohmann::json::parse(R"([{"line": 4, "why": "it is not JSON"}])"));
}

}  // namespace

}  // namespace tessera::blas_profile
