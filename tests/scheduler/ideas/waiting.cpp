// SPDX-License-Identifier: BSD-3-Clause
// Which reserved task a worker starts, and what it waits for.
#include "scheduler/ideas/waiting.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

class Waiting : public IdeaTest {
 protected:
  static constexpr double now = 100;

  TaskId next(double seconds_later = 0) {
    const auto slot = next_task(state, gpu_, now + seconds_later);
    return slot ? slot->task->id : nullptr;
  }
  void all_wait() {
    for (auto& slot : gpu_.station.slots()) slot.waits = true;
  }

  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2), &stranger_ = add_gpu(3);
};

TEST_F(Waiting, StartsTheFirstTaskThatHasAllItsTiles) {
  backend.where = {{tile(2), 1}, {tile(3), 1}};
  reserve(gpu_, {reads(1)});
  const auto second = reserve(gpu_, {reads(2)}), third = reserve(gpu_, {reads(3), overwrites(4)});
  EXPECT_EQ(next(), second);
  EXPECT_EQ(next(), third);
}

TEST_F(Waiting, WaitsForTilesWhileATaskRuns) {
  reserve(gpu_, {reads(1)});
  task_starts(state, pop(gpu_, {}), gpu_.id, now);
  EXPECT_EQ(next(), nullptr);
}

TEST_F(Waiting, StartsATaskWithoutItsTilesIfItIsIdle) {
  const auto first = reserve(gpu_, {reads(1)});
  reserve(gpu_, {reads(2)});
  EXPECT_EQ(next(), first);
}

TEST_F(Waiting, PrefersATaskThatWaitsForNoPeer) {
  const auto first = reserve(gpu_, {reads(1)}), second = reserve(gpu_, {reads(2)});
  gpu_.station.slots()[0].waits = true;
  EXPECT_EQ(next(), second);
  EXPECT_EQ(next(), first);
}

// If the worker popped the second task, it could not start the first before tile 2 arrives.
TEST_F(Waiting, PostponesATaskWhileAPeerReceivesTilesOfAnother) {
  const auto first = reserve(gpu_, {reads(1)});
  reserve(gpu_, {reads(2), updates(3)});
  gpu_.station.slots()[0].waits = true;
  backend.where = {{tile(3), 1}};
  backend.on_the_way = {{tile(1), 2}, {tile(2), 1}};
  EXPECT_EQ(next(), nullptr);
  backend.where.insert({tile(1), 1});
  EXPECT_EQ(next(), first);
}

// The link needs 0.2 ms for both tiles.
TEST_F(Waiting, PostponesATaskForSomeTime) {
  reserve(gpu_, {reads(1)});
  const auto second = reserve(gpu_, {reads(2)});
  gpu_.station.slots()[0].waits = true;
  backend.on_the_way = {{tile(1), 2}, {tile(2), 1}};
  EXPECT_EQ(next(), nullptr);
  EXPECT_EQ(next(0.19e-3), nullptr);
  EXPECT_EQ(next(0.21e-3), second);
}

TEST_F(Waiting, PostponesNoTaskIfNoneWaitsForAPeer) {
  const auto task = reserve(gpu_, {reads(1)});
  backend.on_the_way = {{tile(1), 1}};
  EXPECT_EQ(next(), task);
}

TEST_F(Waiting, WaitsForAPeerThatNeedsTheTile) {
  const auto task = reserve(gpu_, {reads(1)});
  all_wait();
  const auto at_peer = pop(peer_, {reads(1)});
  EXPECT_EQ(next(), nullptr);
  task_starts(state, at_peer, peer_.id, now);  // the peer has it, or will never have it
  EXPECT_EQ(next(), task);
}

TEST_F(Waiting, DoesNotWaitForAPeerThatDoesNotNeedTheTile) {
  const auto task = reserve(gpu_, {reads(1)});
  all_wait();
  backend.on_the_way = {{tile(1), 2}};  // for a task that was stolen
  EXPECT_EQ(next(), task);
}

// The link needs 0.2 ms for the tile and the result.
TEST_F(Waiting, WaitsForSomeTimeForATileThatTheProgramHasRequestedAtAPeer) {
  backend.homes[tile(2)] = gpu_.id;
  const auto task = reserve(gpu_, {reads(1), updates(2)});
  all_wait();
  backend.on_the_way = {{tile(1), 2}};
  EXPECT_EQ(next(), nullptr);
  EXPECT_EQ(next(0.19e-3), nullptr);
  EXPECT_EQ(next(0.21e-3), task);
}

TEST_F(Waiting, APeerAwaitsTheTilesOfPrefetchedTasks) {
  reserve(peer_, {reads(1)});
  EXPECT_FALSE(awaited_by_a_peer(state, gpu_, tile(1)));
  peer_.station.slots()[0].prefetched = true;
  EXPECT_TRUE(awaited_by_a_peer(state, gpu_, tile(1)));
  EXPECT_FALSE(awaited_by_a_peer(state, gpu_, tile(2)));
  EXPECT_FALSE(awaited_by_a_peer(state, stranger_, tile(1)));
  backend.where = {{tile(1), 2}};
  EXPECT_FALSE(awaited_by_a_peer(state, gpu_, tile(1)));
}

// The length of the wait does not matter, because every end is reported. A popped task occupies memory with its tiles.
TEST_F(Waiting, WaitsUntilPoppedTasksHaveEnded) {
  const auto waiting = reserve(gpu_, {reads(1)});
  const auto popped = pop(gpu_, {reads(2)});
  EXPECT_EQ(next(1000), nullptr);
  task_starts(state, popped, gpu_.id, now + 1000);
  EXPECT_EQ(next(2000), nullptr);
  task_ends(state, popped, {reads(2)}, gpu_.id, now + 2000);
  EXPECT_EQ(next(2000), waiting);
}

}  // namespace
}  // namespace tessera::scheduler
