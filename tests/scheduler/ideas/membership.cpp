// SPDX-License-Identifier: BSD-3-Clause
// What happens to tasks when workers join or leave.
#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Membership : public IdeaTest {
 protected:
  Worker &a_ = add_gpu(1), &b_ = add_gpu(2);
};

TEST_F(Membership, CpusAreOneKindAndEachGpuIsAnother) {
  add_cpu(5);
  add_cpu(6);
  EXPECT_EQ(find_worker(state, 5)->kind, find_worker(state, 6)->kind);
  EXPECT_NE(a_.kind, b_.kind);
  EXPECT_NE(a_.kind, find_worker(state, 5)->kind);
}

TEST_F(Membership, ALeavingWorkersTasksGoToOthers) {
  backend.homes = {{tile(1), a_.id}};
  push({updates(1)});
  reserve(a_, {reads(2)});
  b_.asleep = true;
  remove_worker(state, a_);
  EXPECT_THAT(wake_others(state, a_.id), ElementsAre(b_.id));
  EXPECT_THAT(state.members, ElementsAre(&b_));
  EXPECT_TRUE(a_.bound.empty());
  EXPECT_TRUE(a_.station.empty());
  EXPECT_EQ(state.shared_tasks, 2);
  EXPECT_EQ(state.chains.home(tile(1)), no_worker);
}

TEST_F(Membership, KeepsATaskWhileItsTilesAreRequested) {
  reserve(a_, {reads(1)});
  a_.station.slots()[0].issuing = true;
  remove_worker(state, a_);
  EXPECT_THAT(a_.station.slots(), SizeIs(1));
  a_.station.slots()[0].issuing = false;
  hand_back(state, a_);
  EXPECT_THAT(a_.station.slots(), IsEmpty());
  EXPECT_EQ(state.shared_tasks, 1);
}

TEST_F(Membership, TheTilesOfALeavingWorkerAreAbandoned) {
  const auto task = reserve(a_, {reads(1)});
  a_.station.slots()[0].counted = {tile(1)};
  remove_worker(state, a_);
  EXPECT_FALSE(backend.counted.at(task));
  EXPECT_THAT(state.abandoned.take_over(*submit({reads(1)}), a_.node), ElementsAre(tile(1)));
}

TEST_F(Membership, ARefusedTaskIsOfferedAgain) {
  bool refused = true;
  backend.cannot = [&](TaskId, int) { return refused; };
  auto task = submit({}, 0, true);
  const auto id = task->id;
  place(state, std::move(task));
  EXPECT_TRUE(has_refused(state));
  look_around(state, 1);
  EXPECT_TRUE(has_refused(state));
  fill_station(state, a_);
  EXPECT_THAT(a_.station.slots(), IsEmpty());
  refused = false;
  look_around(state, 1 + look_interval / 2);
  EXPECT_TRUE(has_refused(state));  // it has just checked
  look_around(state, 1 + look_interval);
  EXPECT_FALSE(has_refused(state));
  EXPECT_EQ(state.shared_tasks, 1);
  fill_station(state, a_);
  EXPECT_THAT(reserved(a_), ElementsAre(id));
}

TEST_F(Membership, LookingAroundFindsWorkersThatHaveLeft) {
  backend.gone = {a_.id};
  look_around(state, 1);
  EXPECT_FALSE(a_.present);
  EXPECT_THAT(state.members, ElementsAre(&b_));
}

TEST_F(Membership, AWorkerCanComeBack) {
  remove_worker(state, a_);
  remove_worker(state, a_);
  add_worker(state, a_.id, a_.node, false);
  add_worker(state, a_.id, a_.node, false);
  EXPECT_TRUE(a_.present);
  EXPECT_THAT(state.members, ElementsAre(&b_, &a_));
}

TEST_F(Membership, SharedTasksGoToTheirHomeWhenItJoins) {
  backend.homes = {{tile(1), 3}};
  push({updates(1)});
  push({updates(2)});
  EXPECT_EQ(state.shared_tasks, 2);
  auto& joined = add_gpu(3);
  place_shared_again(state);
  EXPECT_EQ(joined.bound.size(), 1);
  EXPECT_EQ(state.shared_tasks, 1);
}

TEST_F(Membership, SharedTasksAreForNewWorkersToo) {
  push({reads(1)});
  auto& joined = add_gpu(3);
  EXPECT_EQ(choose_task(state, joined), nullptr);
  place_shared_again(state);
  EXPECT_NE(choose_task(state, joined), nullptr);
}

TEST_F(Membership, ALeavingWorkerNoLongerFetchesALargeTask) {
  pop(a_, {reads(1, gpu_memory)});
  EXPECT_EQ(state.large_fetcher, a_.id);
  remove_worker(state, a_);
  EXPECT_EQ(state.large_fetcher, no_worker);
}

}  // namespace
}  // namespace tessera::scheduler
