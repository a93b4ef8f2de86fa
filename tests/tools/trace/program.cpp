// SPDX-License-Identifier: BSD-3-Clause
// The program tessera-trace.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "recorded_trace.hpp"
#include "shared/formatting.hpp"

namespace tessera::trace {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* outputs[] = {"paje.trace", "report.html", "report.svg",   "report.png",
                                   "tasks.csv",  "trace.json",  "transfers.csv"};
constexpr int success = 0, bad_arguments = 2, runtime_failed = 3;

class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    if (recorded_trace().empty()) GTEST_SKIP() << "this StarPU cannot record traces";
    fs::create_directory(folder());
    fs::create_directory(temporary());
    write_file(folder() / "prof_file_0", recorded_trace());
  }
  void TearDown() override {
    if (fs::exists(temporary())) EXPECT_TRUE(fs::is_empty(temporary())) << "temporary files remain";
  }
  fs::path folder() const { return scratch_ / "recorded"; }
  fs::path temporary() const { return scratch_ / "temporary"; }
  Command command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), TEST_TRACE_PROGRAM);
    return {.words = std::move(arguments), .environment = {{"TMPDIR", temporary()}}};
  }
  test::Ended trace(std::vector<std::string> arguments) const { return run_program(command(std::move(arguments))); }
  void expect_failure(const std::vector<std::string>& arguments, int status, const std::string& why) const {
    const auto ended = trace(arguments);
    EXPECT_EQ(ended.status, status) << why;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("tessera-trace: "), HasSubstr(why)));
    EXPECT_EQ(std::ranges::count(ended.out + ended.err, '\n'), 1) << ended.out << ended.err;
  }

  Scratch scratch_;
};

TEST_F(Program, WritesAReport) {
  const auto ended = trace({folder()});
  EXPECT_EQ(ended.status, success);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("increase: 40 tasks on 2 CPU workers\n"), HasSubstr("FLOP/s"), HasSubstr("CPU 1"),
                    HasSubstr("waiting for data"), HasSubstr("report: " + (folder() / "report.html").string())));
  for (const char* name : outputs) EXPECT_GT(fs::file_size(folder() / name), 0u) << name;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1 + std::ssize(outputs));
}

// The only folder for Fontconfig's cache is in the home, as on a machine whose fonts are not in the system's cache.
TEST_F(Program, PrintsNoErrorsWithoutAHome) {
  write_file(scratch_ / "fonts.conf",
             "<fontconfig><dir>/usr/share/fonts</dir><cachedir prefix=\"xdg\">fontconfig</cachedir></fontconfig>");
  auto without_home = command({folder()});
  without_home.environment["FONTCONFIG_FILE"] = scratch_ / "fonts.conf";
  without_home.environment["HOME"] = "/proc/nonexistent";
  without_home.environment["XDG_CACHE_HOME"] = "";
  const auto ended = run_program(without_home);
  EXPECT_EQ(ended.status, success);
  EXPECT_EQ(ended.err, "");
}

// StarPU records names unchanged. Whatever they contain, every output is valid and represents them in its own way.
TEST_F(Program, ShowsOddNames) {
  struct Case {
    std::vector<std::string> names;
    std::string shown;
  };
  const Case cases[] = {{{""}, "unnamed"},
                        {{"-"}, "unknown"},
                        {{"a\nb"}, "a\\nb"},
                        {{"a\n\nb: c\nWorkerId: 77"}, "a\\n\\nb: c\\nWorkerId: 77"},
                        {{"a\xff\xfe"}, "a\\xff\\xfe"},
                        {{"a\tb \"c"}, "a\\tb \"c"},
                        {{"increase", ""}, "increase"},
                        {{"increase", "\xff"}, "increase"},
                        {{"increase", ","}, "increase"},
                        {{"increase", "A\n\nB \"\tC"}, "increase"},
                        {{"increase", "A", ""}, "unnamed"},
                        {{"increase", "A", "a\n10\tb\xff"}, "a\\n10\\tb\\xff"},
                        {{"increase", "A", "increase", "an\nevent \"\xff"}, "increase"}};
  for (const auto& [names, shown] : cases) {
    SCOPED_TRACE(shown + " from " + ::testing::PrintToString(names));
    write_file(folder() / "prof_file_0", record(names));
    const auto ended = trace({folder()});
    ASSERT_EQ(ended.status, success) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(shown + ": 40 tasks on 2 CPU workers\n"));
    const auto chrome = nlohmann::json::parse(read_file(folder() / "trace.json"));
    EXPECT_GE(std::ranges::count(chrome.at("traceEvents"), nlohmann::json(shown),
                                 [](const auto& event) { return event.value("cat", nlohmann::json()); }),
              40);
    const auto vite = read_file(folder() / "paje.trace");
    auto in_vite = shown;
    std::ranges::replace(in_vite, '"', '\'');
    EXPECT_THAT(vite, HasSubstr("\"" + in_vite + "\""));
    for (const auto* name : {"paje.trace", "tasks.csv", "report.svg", "report.html"}) {
      const auto text = read_file(folder() / name);
      std::string_view rest = text;
      while (tools::character_length(rest) > 0) rest.remove_prefix(tools::character_length(rest));
      EXPECT_EQ(rest, "") << name << " is not UTF-8";
    }
  }
}

TEST_F(Program, WritesElsewhere) {
  const auto output = scratch_ / "new/folder";
  EXPECT_EQ(trace({folder(), "--output", output}).status, success);
  for (const char* name : outputs) EXPECT_TRUE(fs::exists(output / name)) << name;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1);
}

TEST_F(Program, Compares) {
  const auto file = scratch_ / "both.html";
  const auto ended = trace({"--compare", folder(), folder(), "--output", file});
  EXPECT_EQ(ended.status, success);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("time to the end"), HasSubstr("+0.0 %"), HasSubstr("report: " + file.string())));
  EXPECT_GT(fs::file_size(file), 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1);
}

TEST_F(Program, ComparesIntoTheSecondFolder) {
  const auto second = scratch_ / "second";
  fs::copy(folder(), second, fs::copy_options::recursive);
  EXPECT_EQ(trace({"--compare", folder(), second}).status, success);
  EXPECT_GT(fs::file_size(second / "compare.html"), 0u);
}

TEST_F(Program, RefusesBadArguments) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    expect_failure(arguments, bad_arguments, why);
  };
  fs::create_directory(scratch_ / "empty");
  refused({}, "FOLDER is missing");
  refused({scratch_ / "nowhere"}, "is not a folder");
  refused({folder() / "prof_file_0"}, "is not a folder");
  refused({folder(), "--output", folder() / "prof_file_0"}, "is not a folder");
  refused({"--compare", folder()}, "--compare");
  refused({"--compare", folder(), scratch_ / "nowhere"}, "is not a folder");
  refused({"--compare", folder(), folder(), folder()}, "--compare");
  refused({"--compare", folder(), folder(), "--output", folder()}, "a comparison is written to a file");
  refused({"--picture", folder()}, "--picture");
  refused({scratch_ / "empty"}, "contains no trace");
  EXPECT_EQ(trace({"--help"}).status, success);
}

TEST_F(Program, ReportsErrorsInOneSentence) {
  const auto failed = [&](const std::vector<std::string>& arguments, const std::string& why) {
    expect_failure(arguments, runtime_failed, why);
  };
  failed({folder(), "--output", folder() / "prof_file_0/report"}, "the folder cannot be created");
  failed({folder(), "--output", "/proc"}, "/proc/paje.trace");
  failed({"--compare", folder(), folder(), "--output", scratch_ / "nowhere/both.html"}, "both.html cannot be written");
  write_file(folder() / "prof_file_0", "a letter");
  failed({folder()}, "it is not a StarPU trace, or it is damaged");
}

TEST_F(Program, ShowsATruncatedTraceWithAWarning) {
  write_file(folder() / "prof_file_0", recorded_trace().substr(0, recorded_trace().size() * 3 / 4));
  const auto ended = trace({folder()});
  EXPECT_EQ(ended.status, success) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("warning: The trace ends before the program does"));
  EXPECT_THAT(read_file(folder() / "report.html"), HasSubstr("The trace ends before the program does"));
}

TEST_F(Program, NoticesAFullDisk) {
  ASSERT_EQ(trace({folder(), "--output", scratch_ / "whole"}).status, success);
  const auto largest = fs::file_size(scratch_ / "whole/report.html");
  bool some = false;
  for (rlim_t limit = 0; limit < largest; limit = 2 * limit + 1024) {
    const auto output = scratch_ / std::to_string(limit);
    auto limited = command({folder(), "--output", output});
    limited.largest_file = limit;
    const auto ended = run_program(limited);
    EXPECT_EQ(ended.status, runtime_failed) << limit << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("File too large")) << limit;
    for (const auto& entry : fs::directory_iterator(output)) {  // each file is complete or absent
      const auto name = entry.path().filename().string();
      EXPECT_TRUE(fs::exists(scratch_ / "whole" / name)) << name << " remains at " << limit;
      EXPECT_LE(entry.file_size(), limit);
      some = true;
    }
  }
  EXPECT_TRUE(some);
}

TEST_F(Program, NoticesThatStandardOutputCannotBeWritten) {
  auto silenced = command({folder()});
  silenced.standard_output = "/dev/full";
  const auto ended = run_program(silenced);
  EXPECT_EQ(ended.status, runtime_failed);
  EXPECT_THAT(ended.err, HasSubstr("tessera-trace: "));
}

}  // namespace

}  // namespace tessera::trace
