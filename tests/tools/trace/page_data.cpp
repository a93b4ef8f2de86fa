// SPDX-License-Identifier: BSD-3-Clause
// The data of the page, and the table that compares two runs.
#include <gmock/gmock.h>

#include "small_run.hpp"
#include "trace/output/page_data.hpp"

namespace tessera::trace::page_data_cpp {
namespace {

using Json = nlohmann::ordered_json;

constexpr int gpu_0 = 0, gpu_1 = 1, host = 0, node_0 = 1;

Json data_of(const SmallRun& small) { return page_data(small.run, analyse(small.run)); }

TEST(PageData, TasksInTheOrderOfTheirStarts) {
  SmallRun small(2);
  const int c = small.tile('C', 3, 5);
  const int late = small.submitted_at(1, small.task(gpu_0, 4, 8, {small.write(c)}));
  small.run.tasks[late].step = 7, small.run.tasks[late].routine = 1;
  small.run.tasks[small.task(gpu_1, 8, 8)].worker = none;  // never started
  small.task(gpu_1, 2, 3);
  const auto data = data_of(small);
  const Json expected = {{"job", {102, 100}},
                         {"routine", {0, 1}},
                         {"worker", {1, 0}},
                         {"output", "-C"},
                         {"row", {-1, 3}},
                         {"column", {-1, 5}},
                         {"step", {-1, 7}},
                         {"submitted", {0, 10'000'000}},
                         {"ready", {0, 10'000'000}},
                         {"start", {20'000'000, 40'000'000}},
                         {"end", {30'000'000, 80'000'000}}};
  EXPECT_EQ(data["tasks"], expected);
  EXPECT_EQ(data["tick"], 1e-7);
  EXPECT_EQ(data["path"]["tasks"], Json({1})) << "an index into the tasks of the page";
  EXPECT_EQ(data["routines"][1],
            Json({{"name", "trsm"}, {"colour", "#d55e00"}, {"tasks", 1}, {"seconds", 4.0}, {"flops", 4e9}}));
  for (const auto& gap : data["gaps"])
    if (gap["worker"] == 0) {
      EXPECT_EQ(gap["next"], 1);
      EXPECT_EQ(gap["cause"], "overhead");
    }
}

TEST(PageData, LinksAndTransfers) {
  SmallRun small(1);
  small.run.counted.links = {{host, node_0, 0, 25e9}};
  const int a = small.tile('A', 1, 2, 3 * megabyte), unknown = small.tile('-', none, none, 1);
  small.transfer(a, host, node_0, 0, 1, Transfer::Reason::Prefetch);
  small.transfer(unknown, node_0, host, 1, 2, Transfer::Reason::WriteBack);
  const auto data = data_of(small);
  EXPECT_EQ(data["links"][0], Json({{"name", "host → GPU 0"},
                                    {"from", 0},
                                    {"to", 1},
                                    {"bytes", 3'000'000},
                                    {"transfers", 1},
                                    {"busy", 1.0},
                                    {"rate", 25e9},
                                    {"operands", {{"A", 3'000'000}}}}));
  EXPECT_TRUE(data["links"][1]["rate"].is_null());
  EXPECT_EQ(data["transfers"], Json({{"link", {0, 1}},
                                     {"operand", "A-"},
                                     {"row", {1, -1}},
                                     {"column", {2, -1}},
                                     {"bytes", {3'000'000, 1}},
                                     {"start", {0, 10'000'000}},
                                     {"end", {10'000'000, 20'000'000}},
                                     {"reason", {1, 2}}}));
}

TEST(PageData, WorkersMemoryAndText) {
  SmallRun small(1, 1);
  small.run.title = "gemm \"large\"", small.run.simulated = true, small.run.warnings = {"It was cut off."};
  small.run.memory = {{node_0, {0, 1.5}, {0, 3e8}}};
  small.task(gpu_0, 1, 2);
  const auto data = data_of(small);
  EXPECT_EQ(data["title"], "gemm \"large\"");
  EXPECT_EQ(data["simulated"], true);
  EXPECT_EQ(data["warnings"], Json({"It was cut off."}));
  EXPECT_EQ(data["workers"][0], Json({{"name", "GPU 0"},
                                      {"kind", "gpu"},
                                      {"node", 1},
                                      {"tasks", 1},
                                      {"computing", 1.0},
                                      {"data", 0.0},
                                      {"overhead", 1.0},
                                      {"idle", 0.0}}));
  EXPECT_EQ(data["workers"][1]["kind"], "cpu");
  EXPECT_EQ(data["nodes"], Json({{{"name", "host"}, {"kind", "host"}}, {{"name", "GPU 0"}, {"kind", "gpu"}}}));
  EXPECT_EQ(data["memory"], Json::array({{{"node", 1}, {"time", {0, 15'000'000}}, {"bytes", {0.0, 3e8}}}}));
  EXPECT_EQ(data["running"], Json({{"time", {0, 10'000'000, 20'000'000}}, {"count", {0, 1, 0}}}));
}

TEST(PageData, GpusAreShownBeforeCoresAndIdleCoresNotAtAll) {
  SmallRun small(1, 3);
  std::swap(small.run.workers[0], small.run.workers[2]);
  small.task(0, 0, 1), small.task(3, 0, 1);
  EXPECT_EQ(data_of(small)["shown"], Json({2, 0, 3}));
}

TEST(PageData, OfAnEmptyRun) {
  const auto data = page_data(trace::Run{}, analyse(trace::Run{}));
  EXPECT_EQ(data["tasks"]["job"], Json::array());
  EXPECT_EQ(data["gaps"], Json::array());
  EXPECT_EQ(data["warnings"], Json::array());
  EXPECT_NO_THROW((void)data.dump());
}

TEST(PageData, ATruncatedRunHasNumbersOnly) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.task(gpu_0, 0, 1);
  small.run.tasks[0].end = never;
  small.transfer(a, host, node_0, 0, 1);
  small.run.transfers[0].end = never;
  small.run.span = 2;
  const auto data = data_of(small);
  EXPECT_EQ(data["tasks"]["end"], Json({20'000'000}));
  EXPECT_EQ(data["transfers"]["end"], Json({20'000'000}));
}

Json row(const Json& rows, const std::string& what) {
  for (const auto& row : rows)
    if (row["what"] == what) return row;
  return {};
}

TEST(Differences, OfTwoRunsOnGpus) {
  SmallRun slow(1), fast(2);
  const int a = slow.tile('A', 0, 0, 1000 * megabyte);
  slow.transfer(a, host, node_0, 0, 6);
  slow.task(gpu_0, 6, 8, {slow.read(a)});
  fast.task(gpu_0, 0, 2);
  const auto rows = differences(slow.run, analyse(slow.run), fast.run, analyse(fast.run));
  EXPECT_EQ(row(rows, "time to the end"),
            Json({{"what", "time to the end"}, {"unit", "s"}, {"first", 8.0}, {"second", 2.0}}));
  EXPECT_EQ(row(rows, "workers: waiting for data")["first"], 75.0);
  EXPECT_EQ(row(rows, "workers: computing")["second"], 100.0) << "only the GPU that ran tasks counts";
  EXPECT_EQ(row(rows, "from the host to GPUs")["first"], 1.0);
  EXPECT_EQ(row(rows, "… of A")["second"], nullptr) << "that run has no A";
  EXPECT_EQ(row(rows, "tiles brought from the host")["first"], 100.0);
  EXPECT_EQ(row(rows, "tiles brought from the host")["second"], nullptr);
}

TEST(Differences, WithoutGpusOmitThem) {
  SmallRun first(0, 1), second(0, 1);
  first.task(0, 0, 1), second.task(0, 0, 2);
  const auto rows = differences(first.run, analyse(first.run), second.run, analyse(second.run));
  EXPECT_EQ(row(rows, "tasks"), Json({{"what", "tasks"}, {"unit", ""}, {"first", 1}, {"second", 1}}));
  EXPECT_TRUE(row(rows, "between GPUs").is_null());
}

}  // namespace
}  // namespace tessera::trace::page_data_cpp
