// SPDX-License-Identifier: BSD-3-Clause
// A hand-written run of three tasks on two GPUs with the oddities of StarPU's files: StarPU's own tasks, a reused
// address, and transfers without a start or an end.
#include "trace/input/read_run.hpp"

#include <algorithm>

#include "trace_test.hpp"

namespace tessera::trace {

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Tiny : public ::testing::Test {
 protected:
  Tiny() { fs::copy(TEST_DATA "/tiny", scratch_.path()); }
  trace::Run read_tiny() const { return read_run(scratch_.path(), scratch_.path()); }
  void replace(const char* file, const std::string& what, const std::string& by) const {
    write_file(scratch_ / file, replaced(read_file(scratch_ / file), what, by));
  }
  /// Truncates the trace, as if the program had been killed.
  void cut_off() const {
    for (const char* thread : {"t101", "t102", "t103"})
      replace("paje.trace", std::string("8\t120.000000000\t") + thread + "\tT\n", "");
  }

  Scratch scratch_;
};

TEST_F(Tiny, IsDescribed) {
  const auto run = read_tiny();
  EXPECT_EQ(run.title, "gemm, scale: 3 tasks on 2 GPUs, simulated");
  EXPECT_EQ(run.command, "tessera-bench gemm --n 8192");
  EXPECT_EQ(run.machine, "2 NVIDIA H200, 1 CPU worker");
  EXPECT_EQ(run.policy, "tessera");
  ASSERT_EQ(run.nodes.size(), 3u);
  EXPECT_EQ(run.nodes[2].name, "GPU 1");
  EXPECT_EQ(run.nodes[2].kind, Kind::Gpu);
  ASSERT_EQ(run.workers.size(), 3u);
  EXPECT_EQ(run.workers[1].node, 2);
  EXPECT_EQ(run.routines[0].colour, 0x123456u);
  EXPECT_EQ(run.counted.tasks, (std::vector<std::uint64_t>{2, 1, 0}));
  ASSERT_EQ(run.counted.links.size(), 1u);
  EXPECT_EQ(run.counted.links[0].bytes, 3145728u);
}

// Only the tasks show that part of a tile is copied; its registration does not.
TEST_F(Tiny, TakesTheSizesOfTilesFromTheirTasks) {
  replace("data.rec", "Size: 2097152", "Size: 9000000");
  const auto run = read_tiny();
  const auto b = std::ranges::find(run.tiles, 'B', &trace::Tile::operand);
  ASSERT_NE(b, run.tiles.end());
  EXPECT_EQ(b->bytes, 2097152u);
}

TEST_F(Tiny, BeginsWithTheFirstTransferForATask) {
  const auto run = read_tiny();
  EXPECT_NEAR(run.transfers.front().start, 0, 1e-12);
  EXPECT_NEAR(run.tasks.front().submitted, 0.5e-3, 1e-12);
  EXPECT_NEAR(run.span, 17.5e-3, 1e-12);  // until the last result is on the host
}

TEST_F(Tiny, HasTheProgramsTasks) {
  const auto run = read_tiny();
  ASSERT_EQ(run.tasks.size(), 3u);
  const auto &first = run.tasks[0], &second = run.tasks[1], &third = run.tasks[2];
  EXPECT_EQ(name_of(run, first), "gemm C(2,3) k=7");
  EXPECT_EQ(name_of(run, second), "gemm C(2,3) k=10");
  EXPECT_EQ(name_of(run, third), "scale C(5,6) k=0");  // a second tile at the address of the first one
  EXPECT_EQ(first.worker, 0);
  EXPECT_NEAR(first.ready, 0.51e-3, 1e-12);
  EXPECT_NEAR(first.start, 3.5e-3, 1e-12);
  EXPECT_NEAR(first.end, 5.5e-3, 1e-12);
  EXPECT_NEAR(third.ready, 8.7e-3, 1e-12);  // according to the clocks, it was pushed before its submission
  EXPECT_THAT(first.after, IsEmpty());
  EXPECT_THAT(second.after, ElementsAre(0));  // through a task that only synchronizes
  EXPECT_THAT(third.after, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(first.flops, 1e9);
}

TEST_F(Tiny, KnowsTheTiles) {
  const auto run = read_tiny();
  const auto& accesses = run.tasks[0].accesses;
  ASSERT_EQ(accesses.size(), 3u);
  EXPECT_EQ(name_of(run, accesses[0].tile, accesses[0].operand), "A(2,0)");
  EXPECT_EQ(name_of(run, accesses[1].tile, accesses[1].operand), "B(0,3)");
  EXPECT_TRUE(accesses[2].read && accesses[2].write);
  EXPECT_EQ(accesses[0].tile, run.tasks[1].accesses[0].tile);
  const auto& again = run.tasks[2].accesses;
  EXPECT_NE(accesses[0].tile, again[0].tile);
  EXPECT_TRUE(run.tiles[static_cast<std::size_t>(again[0].tile)].temporary);
  EXPECT_EQ(run.tiles[static_cast<std::size_t>(again[0].tile)].operand, 'C');
  EXPECT_TRUE(again[1].scratch);
  EXPECT_EQ(name_of(run, again[1].tile, '-'), "tile");
  EXPECT_EQ(run.tiles[static_cast<std::size_t>(again[1].tile)].bytes, 64u);
}

TEST_F(Tiny, KnowsTheTransfers) {
  const auto run = read_tiny();
  std::vector<std::string> seen;
  for (const auto& transfer : run.transfers) {
    constexpr const char* reasons[] = {"fetch", "prefetch", "write back"};
    seen.push_back(link_name(run, transfer.from, transfer.to) + " " + name_of(run, transfer.tile, transfer.operand) +
                   " " + reasons[static_cast<int>(transfer.reason)]);
  }
  EXPECT_THAT(seen, ElementsAre("host → GPU 0 B(0,3) prefetch", "host → GPU 0 A(2,0) fetch",
                                "GPU 0 → GPU 1 C(2,3) prefetch", "GPU 1 → host C(2,3) write back",
                                "GPU 0 → host C(5,6) write back", "GPU 0 → host C(2,3) fetch"));
  EXPECT_EQ(run.transfers[0].bytes, 2097152u);
  EXPECT_NEAR(run.transfers[2].end - run.transfers[2].start, 0.5e-3, 1e-12);
}

TEST_F(Tiny, KnowsTheMemory) {
  const auto run = read_tiny();
  ASSERT_EQ(run.memory.size(), 1u);
  EXPECT_EQ(run.memory[0].node, 1);
  EXPECT_THAT(run.memory[0].bytes, ElementsAre(1 << 20, 2 << 20));
  EXPECT_NEAR(run.memory[0].time[0], 0, 1e-12);  // the memory used before the first event
  EXPECT_NEAR(run.memory[0].time[1], 1e-3, 1e-12);
}

TEST_F(Tiny, WarnsOfAFullBuffer) {
  EXPECT_THAT(read_tiny().warnings, ElementsAre(AllOf(HasSubstr("full once"), HasSubstr("0.00025 s"),
                                                      HasSubstr("STARPU_TRACE_BUFFER_SIZE to 1 or more"))));
}

TEST_F(Tiny, NeedsNoFileOfTessera) {
  fs::remove(scratch_ / "run.json");
  const auto run = read_tiny();
  EXPECT_EQ(run.title, "gemm, scale: 3 tasks on 2 GPUs");
  EXPECT_EQ(run.machine, "2 GPUs, 1 CPU worker");
  EXPECT_EQ(run.nodes[1].name, "GPU 0");
  EXPECT_EQ(run.workers[1].name, "GPU 1");
  EXPECT_EQ(run.workers[2].name, "CPU 0");
  EXPECT_EQ(run.routines[0].colour, 0x4477aau);
  EXPECT_EQ(run.tasks[0].step, none);  // a tag of another program has no known meaning
  EXPECT_EQ(name_of(run, run.tasks[2]), "scale C(5,6)");
}

TEST_F(Tiny, ShowsTheRecordedPartOfATruncatedTrace) {
  cut_off();
  replace("tasks.rec", "EndTime: 110.000000\n", "");
  replace("tasks.rec",
          "WorkerId: 1\nMemoryNode: 2\nSubmitTime: 100.100000\nStartTime: 107.000000\nEndTime: 108.000000\n",
          "SubmitTime: 100.100000\n");
  const auto run = read_tiny();
  ASSERT_EQ(run.tasks.size(), 3u);
  EXPECT_EQ(run.tasks[1].worker, none);
  EXPECT_EQ(run.tasks[1].start, never);
  EXPECT_EQ(run.tasks[1].step, none);
  EXPECT_NEAR(run.tasks[2].end, 19.5e-3, 1e-12);  // the last event of the trace
  EXPECT_NEAR(run.span, 19.5e-3, 1e-12);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("trace ends before the program"),
                                        HasSubstr("The end of 1 task is missing"), HasSubstr("buffer")));
}

TEST_F(Tiny, SaysThatTheProgramWasKilled) {
  cut_off();
  replace("run.json", "\"complete\": true", "\"complete\": false");
  EXPECT_THAT(read_tiny().warnings, ElementsAre(HasSubstr("The program did not end"), HasSubstr("buffer")));
}

TEST_F(Tiny, IgnoresATaskThatWasNotRecorded) {
  replace("tasks.rec",
          "WorkerId: 1\nMemoryNode: 2\nSubmitTime: 100.100000\nStartTime: 107.000000\nEndTime: 108.000000\n",
          "SubmitTime: 100.100000\n");
  EXPECT_EQ(read_tiny().tasks.size(), 2u);  // the trace is complete: recording was paused, or the task is empty
}

TEST_F(Tiny, KnowsTilesRegisteredWhileRecordingIsPaused) {
  replace("paje.trace", "9	107.500000000	unregister	p	a0\n", "");
  replace("data.rec", "Handle: a0\nHomeNode: 0\nName: A\nSize: 1048576\nDescription: M512x256x8\nCoordinates: 2 0\n",
          "");
  const auto run = read_tiny();
  EXPECT_NE(run.tasks[0].accesses[0].tile, run.tasks[2].accesses[0].tile);
  EXPECT_EQ(name_of(run, run.tasks[2]), "scale C(5,6) k=0");
  EXPECT_EQ(name_of(run, run.tasks[0].accesses[0].tile, '-'), "tile(2,0)");  // from the transfer
}

TEST_F(Tiny, DerivesReadinessFromDependencies) {
  write_file(scratch_ / "sched_tasks.rec", "");
  const auto run = read_tiny();
  EXPECT_NEAR(run.tasks[0].ready, run.tasks[0].submitted, 1e-12);
  EXPECT_NEAR(run.tasks[1].ready, run.tasks[0].end, 1e-12);
}

TEST_F(Tiny, ReportsInvalidFiles) {
  const auto complaint = [&] { return error_of([&] { read_tiny(); }); };
  replace("run.json", "tessera-trace 1", "tessera-trace 2");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("run.json"), HasSubstr("'tessera-trace 2'")));
  write_file(scratch_ / "run.json", "{\"format\": \"tessera-trace 1\", \"nodes\": [{}]}");
  EXPECT_THAT(complaint(), HasSubstr("run.json"));
  write_file(scratch_ / "run.json", "{\"format\"");
  EXPECT_THAT(complaint(), HasSubstr("run.json"));
  fs::remove(scratch_ / "run.json");
  write_file(scratch_ / "tasks.rec", "");
  EXPECT_THAT(complaint(), HasSubstr("no task is recorded in this trace"));
}

TEST_F(Tiny, LeavesOutNodesThatTheTraceLacks) {
  write_file(scratch_ / "run.json",
             R"({"format": "tessera-trace 1", "nodes": [{"id": 99, "name": "far", "kind": "gpu", "used": 5},
                 {"id": -1, "name": "none", "kind": "gpu", "used": 5}], "command": ["two\nlines", "\u001b[2J", ""]})");
  const auto run = read_tiny();
  EXPECT_FALSE(run.memory.empty());
  for (const auto& use : run.memory) EXPECT_LT(static_cast<std::size_t>(use.node), run.nodes.size());
  EXPECT_EQ(run.command, "two\\nlines \\x1b[2J ");
}

// The numbers would become the sizes of lists.
TEST_F(Tiny, RefusesNumbersThatNoWorkerOrNodeHas) {
  const auto complaint = [&] { return error_of([&] { read_tiny(); }); };
  for (const char* number : {"1999999999", "-2"}) {
    const auto tasks = read_file(scratch_ / "tasks.rec"), paje = read_file(scratch_ / "paje.trace");
    replace("tasks.rec", "WorkerId: 0", std::string("WorkerId: ") + number);
    EXPECT_THAT(complaint(), AllOf(HasSubstr("tasks.rec"), HasSubstr(number)));
    write_file(scratch_ / "tasks.rec", tasks);
    replace("paje.trace", "mm1", std::string("mm") + number);
    EXPECT_THAT(complaint(), AllOf(HasSubstr("paje.trace"), HasSubstr("is not what StarPU writes")));
    write_file(scratch_ / "paje.trace", paje);
  }
}

}  // namespace

}  // namespace tessera::trace
