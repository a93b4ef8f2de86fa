// SPDX-License-Identifier: BSD-3-Clause
// When results are written back to the host. GPUs 1 and 2 are peers, and so are 3 and 4.
#include "scheduler/ideas/writing_back.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WritingBack : public IdeaTest {
 protected:
  WritingBack() { state.results.task_seconds = 1; }  // the links have plenty of time

  /// Submits a task.
  std::vector<TileUse> submitted(std::vector<TileUse> tiles) {
    submit(tiles);
    return tiles;
  }
  /// Submits a task, and executes it.
  std::vector<TileId> executed(std::vector<TileUse> tiles, unsigned node) {
    return results_of_ended(state, submitted(std::move(tiles)), node);
  }

  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2), &far_ = add_gpu(3);
};

TEST_F(WritingBack, EveryTileGoesWithItsLastTask) {
  const auto first = submitted({updates(1), updates(2)}), last = submitted({updates(2)});
  EXPECT_THAT(results_of_ended(state, first, 1), ElementsAre(tile(1)));
  EXPECT_THAT(results_of_ended(state, last, 1), ElementsAre(tile(2)));
  EXPECT_TRUE(state.results.tiles.empty());
}

TEST_F(WritingBack, ATileThatIsOnlyReadIsNotAResult) {
  EXPECT_THAT(executed({reads(1), updates(2)}, 1), ElementsAre(tile(2)));
}

TEST_F(WritingBack, TheHostHasWhatItComputes) {
  EXPECT_THAT(executed({updates(1)}, host_node), IsEmpty());
  const auto last = submitted({updates(1)});
  EXPECT_THAT(executed({updates(1)}, 1), IsEmpty());
  EXPECT_THAT(results_of_ended(state, last, host_node), IsEmpty());
}

TEST_F(WritingBack, AResultThatIsReadWaitsForItsLastReader) {
  const auto writer = submitted({updates(1)}), reader = submitted({reads(1)}), last = submitted({reads(1)});
  backend.where = {{tile(1), 1}};
  EXPECT_THAT(results_of_ended(state, writer, 1), IsEmpty());
  EXPECT_EQ(state.results.waiting[1], tile_bytes);
  EXPECT_THAT(results_of_ended(state, reader, 1), IsEmpty());
  EXPECT_THAT(results_of_ended(state, last, 1), ElementsAre(tile(1)));
  EXPECT_EQ(state.results.waiting[1], 0);
}

TEST_F(WritingBack, AResultWithoutAHomeOrAtHomeDoesNotWait) {
  for (const int home : {-1, 1}) {
    auto update = updates(1);
    update.home = home;
    const auto writer = submitted({update}), reader = submitted({reads(1)});
    backend.where = {{tile(1), 1}};
    EXPECT_THAT(results_of_ended(state, writer, 1), IsEmpty());
    EXPECT_THAT(state.results.waiting, Each(0));
    EXPECT_THAT(results_of_ended(state, reader, 1), IsEmpty());
  }
}

TEST_F(WritingBack, AResultReturnsFromAGpuToItsHomeOnAnother) {
  auto update = updates(1);
  update.home = 2;
  EXPECT_THAT(executed({update}, 1), ElementsAre(tile(1)));
}

TEST_F(WritingBack, AResultDoesNotWaitIfItIsNearAllGpus) {
  const auto writer = submitted({updates(1)}), reader = submitted({reads(1)});
  backend.where = {{tile(1), 1}, {tile(1), 3}};
  EXPECT_THAT(results_of_ended(state, writer, 1), ElementsAre(tile(1)));
  EXPECT_THAT(results_of_ended(state, reader, 3), IsEmpty());
}

TEST_F(WritingBack, AResultDoesNotWaitAmongPeers) {
  remove_worker(state, far_);
  const auto writer = submitted({updates(1)}), reader = submitted({reads(1)});
  backend.where = {{tile(1), 1}};
  EXPECT_THAT(results_of_ended(state, writer, 1), ElementsAre(tile(1)));
}

TEST_F(WritingBack, AResultWaitsUntilTheFarGpusHaveRequestedIt) {
  const auto writer = submitted({updates(1)});
  reserve(far_, {reads(1), updates(2)});
  backend.where = {{tile(1), 1}};
  results_of_ended(state, writer, 1);
  EXPECT_THAT(results_of_requested(state, far_), IsEmpty());
  backend.on_the_way = {{tile(1), 3}};
  EXPECT_THAT(results_of_requested(state, far_), IsEmpty()) << "nothing has been requested for this task";
  far_.station.slots()[0].issuing = true;
  EXPECT_THAT(results_of_requested(state, far_), ElementsAre(tile(1)));
  EXPECT_THAT(results_of_requested(state, far_), IsEmpty());
}

TEST_F(WritingBack, AResultThatIsWrittenAgainDoesNotWait) {
  const auto writer = submitted({updates(1)}), reader = submitted({reads(1)});
  backend.where = {{tile(1), 1}};
  results_of_ended(state, writer, 1);
  const auto next = submitted({updates(1)});
  EXPECT_EQ(state.results.waiting[1], 0);
  EXPECT_THAT(results_of_ended(state, reader, 1), IsEmpty());
  EXPECT_THAT(results_of_ended(state, next, 1), ElementsAre(tile(1)));
}

TEST_F(WritingBack, FewBytesWaitInAMemory) {
  constexpr std::size_t half = gpu_memory / 40 + 1;  // two of these are more than a twentieth
  const auto writer = submitted({updates(1, half), updates(2, half)}), reader = submitted({reads(1), reads(2)});
  backend.where = {{tile(1), 1}, {tile(2), 1}};
  EXPECT_THAT(results_of_ended(state, writer, 1), ElementsAre(tile(2)));
}

TEST_F(WritingBack, NoResultWaitsIfTheLinkNeedsTheTime) {
  const auto writer = submitted({updates(1)}), reader = submitted({reads(1)});
  backend.where = {{tile(1), 1}};
  const double copy = state.cache.seconds_to_host(tile_bytes, 1);
  // The tasks take their time divided by the number of GPUs, which must be twice as long as the copy.
  const auto tasks = static_cast<double>(state.unfinished.size());
  state.results.task_seconds = 1.9 * copy * 3 / tasks;
  EXPECT_THAT(results_of_ended(state, writer, 1), ElementsAre(tile(1)));
}

TEST_F(WritingBack, AResultWaitsIfTheLinkHasTheTime) {
  const auto writer = submitted({updates(1)}), reader = submitted({reads(1)});
  backend.where = {{tile(1), 1}};
  const double copy = state.cache.seconds_to_host(tile_bytes, 1);
  state.results.task_seconds = 2.1 * copy * 3 / static_cast<double>(state.unfinished.size());
  EXPECT_THAT(results_of_ended(state, writer, 1), IsEmpty());
}

TEST_F(WritingBack, OnlyTasksOnGpusAreTimed) {
  state.results.task_seconds = 0;
  auto& core = add_cpu(0);
  for (auto* worker : {&core, &gpu_}) {
    EXPECT_EQ(state.results.task_seconds, 0);
    const auto task = pop(*worker, {});
    task_starts(state, task, worker->id, 10);
    task_ends(state, task, {}, worker->id, 20);
  }
  EXPECT_DOUBLE_EQ(state.results.task_seconds, 1);
}

TEST(PendingWriters, KnowTheFirstReader) {
  Writers writers;
  writers.add_reader(1);  // before any writer
  for (const unsigned long order : {2, 3, 6}) writers.add(order);
  EXPECT_EQ(writers.first_reader(2), 0);
  EXPECT_EQ(writers.next_use(6), 0);
  writers.add_reader(8), writers.add_reader(9), writers.add(10), writers.add_reader(12);
  EXPECT_EQ(writers.first_reader(2), 8);
  EXPECT_EQ(writers.first_reader(10), 12);
  EXPECT_EQ(writers.next_use(2), 3);
  EXPECT_EQ(writers.next_use(6), 8);
  EXPECT_EQ(writers.count(3, 8), 2);
  EXPECT_EQ(writers.count(8, 3), 0);
  writers.end_first();
  EXPECT_EQ(writers.count(0, 100), 3);
  for (int i = 0; i < 3; i++) writers.end_first();
  EXPECT_EQ(writers.first_reader(2), 0);
}

TEST(PendingWriters, LookForAReaderOnlySoFar) {
  Writers writers;
  for (unsigned long order = 1; order <= 300; order++) writers.add(order);
  writers.add_reader(301);
  EXPECT_EQ(writers.first_reader(100), 301);
  EXPECT_EQ(writers.first_reader(1), 0);
}

TEST(PendingWriters, ForgetThoseThatHaveEnded) {
  Writers writers;
  for (unsigned long order = 1; order <= 1000; order++) {
    writers.add(order), writers.add(order + 5000);
    writers.end_first(), writers.end_first();
    EXPECT_EQ(writers.count(0, 10000), 0);
  }
}

TEST_F(WritingBack, CanBeSwitchedOff) {
  state.options.write_back = false;
  EXPECT_THAT(executed({updates(1)}, 1), IsEmpty());
}

}  // namespace
}  // namespace tessera::scheduler
