// SPDX-License-Identifier: BSD-3-Clause
// The tables and the trace for Perfetto: their contents, and that no incomplete file remains.
#include <nlohmann/json.hpp>

#include "common/whole_file.hpp"
#include "file_size_limit.hpp"
#include "small_run.hpp"
#include "trace/output/outputs.hpp"
#include "trace_test.hpp"

namespace tessera::trace::tables_cpp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int gpu_0 = 0, host = 0, node_0 = 1;

class Files : public testing::Test {
 protected:
  std::string read(const char* name) const { return read_file(folder / name); }
  long files() const { return std::distance(fs::directory_iterator(folder.path()), {}); }

  const Scratch folder;
};

SmallRun some_run() {
  SmallRun small(1);
  const int a = small.tile('A', 3, 7), c = small.tile('C', 3, 5), unknown = small.tile('-', none, none);
  small.transfer(a, host, node_0, 0.5, 1);
  small.transfer(unknown, host, node_0, 0.75, 1, Transfer::Reason::Prefetch);
  const int first = small.submitted_at(0.25, small.task(gpu_0, 1, 2, {small.read(a), small.write(c)}));
  const int second = small.task(gpu_0, 3, 4, {small.read(a), small.update(c)}, {first});
  small.run.tasks[second].step = 7;
  small.run.tasks[small.task(gpu_0, 4, 4, {}, {first, second})].worker = none;
  small.run.tasks[2].ready = small.run.tasks[2].start = small.run.tasks[2].end = never;
  small.run.tasks[2].routine = none;
  small.transfer(c, node_0, host, 4, 8, Transfer::Reason::WriteBack);
  return small;
}

TEST_F(Files, Tasks) {
  write_tasks_csv(folder / "tasks.csv", some_run().run);
  EXPECT_EQ(read("tasks.csv"),
            "job,name,routine,operand,row,column,step,worker,node,submitted,ready,start,end,flops,after\n"
            "100,\"gemm C(3,5)\",gemm,C,3,5,,GPU 0,GPU 0,0.250000000,0.250000000,1.000000000,2.000000000,1000000000,\n"
            "101,\"gemm C(3,5) k=7\",gemm,C,3,5,7,GPU 0,GPU "
            "0,0.000000000,2.000000000,3.000000000,4.000000000,1000000000,100\n"
            "102,task 102,,,,,,,,0.000000000,,,,0,100 101\n");
}

TEST_F(Files, Transfers) {
  write_transfers_csv(folder / "transfers.csv", some_run().run);
  EXPECT_EQ(read("transfers.csv"),
            "link,from,to,operand,row,column,bytes,start,end,reason\n"
            "host → GPU 0,host,GPU 0,A,3,7,100000000,0.500000000,1.000000000,fetch\n"
            "host → GPU 0,host,GPU 0,,,,100000000,0.750000000,1.000000000,prefetch\n"
            "GPU 0 → host,GPU 0,host,C,3,5,100000000,4.000000000,8.000000000,write back\n");
}

TEST_F(Files, QuotesInNames) {
  SmallRun small(1);
  small.run.routines[0].name = "my \"own\"";
  small.task(gpu_0, 0, 1);
  write_tasks_csv(folder / "tasks.csv", small.run);
  EXPECT_THAT(read("tasks.csv"), HasSubstr("100,\"my \"\"own\"\" 100\",\"my \"\"own\"\"\","));
}

TEST_F(Files, ChromeTrace) {
  auto small = some_run();
  small.run.memory = {{node_0, {0, 1}, {0, 3e8}}};
  const auto analysis = analyse(small.run);
  write_chrome_trace(folder / "trace.json", {small.run, analysis});
  const auto trace = nlohmann::json::parse(read("trace.json"));
  int slices = 0, counters = 0;
  std::map<std::pair<int, int>, double> until;
  std::set<std::pair<int, int>> named, used;
  for (const auto& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    const std::pair<int, int> row(event.at("pid"), event.at("tid"));
    if (phase == "M" && event.at("name") == "thread_name") named.insert(row);
    counters += phase == "C";
    if (phase != "X") continue;
    ++slices, used.insert(row);
    EXPECT_GE(event.at("ts"), until[row]) << "slices of a row must not overlap: " << event;
    until[row] = event.at("ts").get<double>() + event.at("dur").get<double>();
    if (event.at("name") == "gemm C(3,5) k=7") {
      EXPECT_EQ(event.at("ts"), 3e6);
      EXPECT_EQ(event.at("dur"), 1e6);
      EXPECT_EQ(event.at("cat"), "gemm");
      EXPECT_EQ(event.at("args").at("job"), 101);
    }
  }
  EXPECT_EQ(slices, 2 + 3) << "a task that has not started is left out";
  EXPECT_EQ(used.size(), 1 + 3) << "two simultaneous transfers need two rows";
  EXPECT_EQ(named, used);
  EXPECT_EQ(counters, std::ssize(analysis.ready.time) + std::ssize(analysis.running.time) + 2);
}

TEST_F(Files, ChromeTraceOfAnEmptyRun) {
  write_chrome_trace(folder / "trace.json", {trace::Run{}, analyse(trace::Run{})});
  EXPECT_TRUE(nlohmann::json::parse(read("trace.json")).at("traceEvents").is_array());
}

/// The events of a trace for ViTE of one kind, without their number and time.
std::vector<std::string> events(const std::string& trace, int kind) {
  std::vector<std::string> found;
  std::istringstream lines(trace);
  const auto begin = std::to_string(kind) + "\t";
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) found.push_back(line.substr(line.find('\t', begin.size()) + 1));
  return found;
}

TEST_F(Files, ForViTE) {
  auto small = some_run();
  small.run.memory = {{node_0, {0, 1}, {0, 3e8}}};
  write_for_vite(folder / "paje.trace", small.run);
  const auto trace = read("paje.trace");
  using ::testing::Contains, ::testing::ElementsAre;
  EXPECT_THAT(events(trace, 7), ElementsAre("memory0\tRow\t0\t\"host memory\"", "memory1\tRow\t0\t\"GPU 0 memory\"",
                                            "worker0\tRow\t0\t\"GPU 0\"", "link0to1\tRow\t0\t\"host → GPU 0\"",
                                            "link1to0\tRow\t0\t\"GPU 0 → host\""));
  EXPECT_THAT(events(trace, 20), Contains("Does\tworker0\t\"gemm\"\t\"gemm C(3,5) k=7\""));
  EXPECT_THAT(events(trace, 20), Contains("Does\tlink0to1\t\"tile of A\"\t\"A(3,7)\""));
  EXPECT_THAT(events(trace, 13), Contains("Rate\tlink0to1\t0.2")) << "100 MB in half a second";
  EXPECT_THAT(events(trace, 13), Contains("Arriving\tmemory1\t0.6")) << "with another copy of 100 MB in a quarter";
  EXPECT_THAT(events(trace, 13), Contains("Memory\tmemory1\t0.3"));
  EXPECT_THAT(events(trace, 18), Contains("Copy\t0\tmemory1\t\"tile of C\"\t2"));
  EXPECT_THAT(events(trace, 19), Contains("Copy\t0\tmemory0\t\"tile of C\"\t2"));
  double last = 0;
  std::istringstream lines(trace.substr(trace.find("\n7\t")));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) {
      const double time = std::stod(line.substr(line.find('\t')));
      EXPECT_GE(time, last) << line;
      last = time;
    }
}

TEST_F(Files, NoSuchFolder) {
  EXPECT_THAT(error_of([&] { write_tasks_csv(folder / "missing/tasks.csv", some_run().run); }),
              AllOf(HasSubstr("missing/tasks.csv"), HasSubstr("No such file or directory")));
}

TEST_F(Files, AFolderIsInTheWay) {
  fs::create_directories(folder / "tasks.csv" / "in");
  EXPECT_THROW(write_tasks_csv(folder / "tasks.csv", some_run().run), RuntimeError);
  EXPECT_EQ(files(), 1) << "no partial file remains";
}

TEST_F(Files, NoRoom) {
  common::write_whole(folder / "tasks.csv", "old");
  SmallRun small(1);
  for (int i = 0; i < 10'000; ++i) small.task(gpu_0, i, i + 1);
  {
    const FileSizeLimit limit(100'000);
    EXPECT_THAT(error_of([&] { write_tasks_csv(folder / "tasks.csv", small.run); }),
                AllOf(HasSubstr("tasks.csv cannot be written"), HasSubstr("File too large")));
  }
  EXPECT_EQ(read("tasks.csv"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(Files, GivenUp) {
  {
    common::WholeFile whole(folder / "some.txt");
    whole.stream() << "half";
  }
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace tessera::trace::tables_cpp
