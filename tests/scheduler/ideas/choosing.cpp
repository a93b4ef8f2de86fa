// SPDX-License-Identifier: BSD-3-Clause
// Which task a worker reserves next: the one with the least to fetch, by link, then by priority.
#include "fixture.hpp"
#include "scheduler/ideas/waiting.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class Choosing : public IdeaTest {
 protected:
  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2);
};

/// The third GPU, which has tiles, is no peer of the first two.
class ChoosingNearest : public Choosing {
 protected:
  Worker& no_peer_ = add_gpu(3);
};

TEST_F(ChoosingNearest, PrefersItsOwnMemoryToAPeerAndAPeerToTheHost) {
  backend.where = {{tile(1), no_peer_.node}, {tile(2), 2}, {tile(3), 1}};
  const auto far = push({reads(1)}), at_peer = push({reads(2)}), own = push({reads(3)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), own);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), at_peer);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), far);
  EXPECT_EQ(choose_task(state, gpu_), nullptr);
  EXPECT_EQ(state.shared_tasks, 0);
}

TEST_F(ChoosingNearest, CountsBytesNotTiles) {
  backend.where = {{tile(1), 1}, {tile(2), 2}, {tile(3), no_peer_.node}};
  push({reads(1, 1000), reads(3, 5000)});
  const auto less = push({reads(2, 3000), reads(3, 3000)});  // 3000 bytes less from the host, but 3000 from a peer
  EXPECT_EQ(id_of(choose_task(state, gpu_)), less);
}

TEST_F(ChoosingNearest, ManyBytesFromAPeerTakeLongerThanFewFromTheHost) {
  backend.where = {{tile(1), 2}, {tile(2), no_peer_.node}};
  push({reads(1, 6000)});                         // at 50 MB/s
  const auto from_host = push({reads(2, 1000)});  // at 10 MB/s
  EXPECT_EQ(id_of(choose_task(state, gpu_)), from_host);
}

// A task that only writes a tile has no advantage over a task whose tiles are all present.
TEST_F(Choosing, TilesThatAreOnlyWrittenDoNotCount) {
  backend.where = {{tile(1), 1}, {tile(2), 1}};
  const auto first = push({reads(1)});
  push({reads(2), overwrites(3, 9000)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), first);
}

TEST_F(Choosing, ReservedTasksBringTheirTiles) {
  reserve(gpu_, {reads(1)});
  for (std::uintptr_t i = 4; i < 8; i++) {
    backend.where.insert({tile(i), 2});
    push({reads(i)});
  }
  const auto brought = push({reads(1), overwrites(3)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), brought);
}

TEST_F(ChoosingNearest, TilesReservedByAPeerComeFromThatPeer) {
  reserve(peer_, {reads(1)});
  reserve(no_peer_, {reads(2)});
  push({reads(2)});
  const auto at_peer = push({reads(1)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), at_peer);
}

/// A task that reads a tile that no GPU has, followed by a task that copies a tile from a peer.
struct LoadAndCopy {
  TaskId load, copy;
};

class ChoosingLoads : public ChoosingNearest {
 protected:
  LoadAndCopy push_both() {
    backend.where = {{tile(2), 2}};
    return {push({reads(1), overwrites(10)}), push({reads(2), overwrites(11)})};
  }
};

TEST_F(ChoosingLoads, DoesNotPutOffALoadThatNoOtherTaskSaves) {
  const auto tasks = push_both();
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.load);
}

TEST_F(ChoosingLoads, LeavesALoadToTheGpusThatHaveTheTile) {
  const auto tasks = push_both();
  backend.where.insert({tile(1), no_peer_.node});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.copy);
}

TEST_F(ChoosingLoads, LeavesALoadToTheGpusThatReceiveTheTile) {
  const auto tasks = push_both();
  backend.on_the_way.insert({tile(1), no_peer_.node});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.copy);
}

TEST_F(ChoosingLoads, PutsOffALoadIfMemoryIsShort) {
  for (std::uintptr_t i = 1; i <= gpu_memory / tile_bytes; i++) submit({reads(100 + i)});
  const auto tasks = push_both();
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.copy);
}

TEST_F(ChoosingLoads, PutsOffTheLoadOfAResult) {
  backend.where = {{tile(2), 2}};
  push({updates(10)});
  const auto copy = push({reads(2), overwrites(11)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), copy);
}

TEST_F(Choosing, TakesTheFirstByPriorityThenSubmissionIfScoresAreEqual) {
  const auto third = push({reads(1)}, 0), first = push({reads(2)}, 5), second = push({reads(3)}, 5);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), first);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), second);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), third);
}

TEST_F(Choosing, ComparesItsOwnQueueWithTheSharedOne) {
  backend.homes = {{tile(10), gpu_.id}};
  backend.where = {{tile(1), 2}, {tile(2), 1}, {tile(10), 1}};
  const auto bound = push({reads(1), updates(10)});
  const auto shared = push({reads(2), updates(11)});
  const auto also_shared = push({reads(2), reads(1)});
  backend.where.insert({tile(11), 1});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), shared);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), bound);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), also_shared);
}

TEST_F(Choosing, ComparesOnlyTheFrontOfAQueue) {
  state.options.window = 2;
  backend.where = {{tile(3), 1}};
  const auto first = push({reads(1)});
  push({reads(2)});
  push({reads(3)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), first);
}

TEST_F(Choosing, TakesTheFirstWithoutLocality) {
  state.options.locality = Locality::Off;
  backend.where = {{tile(2), 1}};
  const auto first = push({reads(1)});
  push({reads(2)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), first);
}

/// A task with no tile present whose result another task reads, followed by a task with all tiles present.
struct AwaitedAndPresent {
  TaskId awaited, present;
};

class ChoosingAwaited : public Choosing {
 protected:
  AwaitedAndPresent push_both() {
    backend.where = {{tile(2), 1}, {tile(11), 1}};
    const AwaitedAndPresent tasks{push({reads(1), updates(10)}), push({reads(2), updates(11)})};
    submit({reads(10), updates(12)});
    return tasks;
  }
};

TEST_F(ChoosingAwaited, TakesATaskInOrderIfOthersReadItsResult) {
  const auto tasks = push_both();
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.awaited);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.present);
}

TEST_F(ChoosingAwaited, ComparesItsBytesIfMemoryIsShort) {
  for (std::uintptr_t i = 1; i <= gpu_memory / tile_bytes; i++) submit({reads(100 + i)});
  const auto tasks = push_both();
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.present);
}

TEST_F(ChoosingAwaited, ComparesItsBytesIfTheProgramSuggestsItsHome) {
  backend.homes = {{tile(10), gpu_.id}};
  const auto tasks = push_both();
  EXPECT_EQ(id_of(choose_task(state, gpu_)), tasks.present);
}

TEST_F(Choosing, HitsCountTilesAndNotBytes) {
  backend.where = {{tile(1), 1}, {tile(2), 2}, {tile(3), 2}};
  push({reads(4, 10)});  // least time to fetch
  const auto at_peer = push({reads(2, 9000)}), own = push({reads(1), reads(5, 9000)}),
             both_at_peer = push({reads(2), updates(3)});
  state.options.locality = Locality::Hits;
  EXPECT_EQ(id_of(choose_task(state, gpu_)), own);  // equal to the last task, which was submitted later
  EXPECT_EQ(id_of(choose_task(state, gpu_)), both_at_peer);
  EXPECT_EQ(id_of(choose_task(state, gpu_)), at_peer);
}

TEST_F(Choosing, HitsIgnoreTilesOfReservedTasks) {
  reserve(gpu_, {reads(1)});
  for (std::uintptr_t i = 4; i < 8; i++) push({reads(i)});
  backend.where = {{tile(2), 2}};
  push({reads(1)});
  const auto at_peer = push({reads(2), overwrites(3)});
  state.options.locality = Locality::Hits;
  EXPECT_EQ(id_of(choose_task(state, gpu_)), at_peer);
}

TEST_F(Choosing, LeavesTasksThatItCannotExecute) {
  backend.cannot = [&](TaskId, int worker) { return worker == gpu_.id; };
  push({reads(1)});
  EXPECT_EQ(choose_task(state, gpu_), nullptr);
  EXPECT_NE(choose_task(state, peer_), nullptr);
}

TEST_F(Choosing, ReservesItsShareOfTheSharedTasks) {
  for (int i = 0; i < 4; i++) push({reads(1)});
  fill_station(state, gpu_);
  EXPECT_THAT(gpu_.station.slots(), SizeIs(2));
  EXPECT_EQ(state.shared_tasks, 2);
}

TEST_F(Choosing, ItsShareIsByRate) {
  for (const int id : {5, 6, 7, 8}) add_cpu(id);
  place_shared_again(state);
  const auto reserves = [&] {
    for (int i = 0; i < 30; i++) push({reads(1)});
    fill_station(state, gpu_);
    const auto tasks = gpu_.station.size();
    while (!gpu_.station.empty()) gpu_.station.remove(0);
    while (choose_task(state, peer_)) continue;
    return tasks;
  };
  EXPECT_EQ(reserves(), 10);  // the durations on cores are unknown
  backend.seconds = {{1, 1.0}, {2, 1.0}, {5, 100.0}};
  EXPECT_EQ(reserves(), 10);  // 30 tasks; the share of the remaining ones is 1 in 2.04
  backend.seconds = {{1, 1.0}, {2, 1.0}, {5, 2.0}};
  EXPECT_EQ(reserves(), 6);  // 1 in 4
  backend.seconds = {{1, 2.0}, {2, 1.0}, {5, 100.0}};
  EXPECT_EQ(reserves(), 8);  // 1 in 3.08
}

TEST_F(Choosing, OnlyWorkersThatCanRunARestrictedTaskShareIt) {
  for (const int id : {5, 6, 7, 8}) add_cpu(id);
  backend.seconds = {{1, 1.0}, {5, 1.0}, {6, 1.0}};
  backend.cannot = [](TaskId, int worker) { return worker != 1 && worker != 6; };
  for (int i = 0; i < 12; i++) task_ready(state, submit({reads(1)}, 0, true));
  fill_station(state, gpu_);
  EXPECT_THAT(gpu_.station.slots(), SizeIs(4));  // half of the 8 remaining tasks: a core shares them
}

TEST_F(Choosing, FillsTheStationAndThenTakesMoreUrgentTasks) {
  state.options.slots = 3;
  const auto push_bound = [&](std::uintptr_t output, int priority) {
    backend.homes[tile(output)] = gpu_.id;
    return push({updates(output)}, priority);
  };
  const auto a = push_bound(1, 3), b = push_bound(2, 2), c = push_bound(3, 1);
  push_bound(4, 0);
  fill_station(state, gpu_);
  EXPECT_THAT(reserved(gpu_), ElementsAre(a, b, c));
  const auto urgent = push_bound(5, 2);
  fill_station(state, gpu_);
  EXPECT_THAT(reserved(gpu_), ElementsAre(a, b, urgent, c));
}

TEST_F(Choosing, TakesATaskThatItsHomeHasLeftBeforeLessUrgentOnes) {
  backend.homes = {{tile(1), gpu_.id}, {tile(2), peer_.id}, {tile(3), peer_.id}};
  const auto own = push({updates(1)}, 1);
  fill_station(state, gpu_);
  for (const int priority : {2, 0}) share(state, submit({updates(priority == 2 ? 2 : 3)}, priority));
  fill_station(state, gpu_);
  ASSERT_THAT(gpu_.station.slots(), SizeIs(2));
  EXPECT_EQ(gpu_.station.slots()[0].task->output, tile(2));
  EXPECT_EQ(gpu_.station.slots()[1].task->id, own);
}

TEST_F(Choosing, ReservingATaskMakesTheWorkerItsHome) {
  push({updates(1)});
  fill_station(state, gpu_);
  EXPECT_EQ(state.chains.home(tile(1)), gpu_.id);
  EXPECT_EQ(state.chains.incomplete_bytes(gpu_.id), tile_bytes);
}

TEST_F(Choosing, StopsAtTheLookaheadLimit) {
  state.options.lookahead = 2;  // 2000 bytes
  for (std::uintptr_t i = 1; i <= 8; i++) push({reads(i)});
  fill_station(state, gpu_);
  EXPECT_THAT(gpu_.station.slots(), SizeIs(2));
}

TEST_F(Choosing, ACpuReservesOneTask) {
  auto& cpu = add_cpu(5);
  backend.seconds = {{1, 1.0}, {2, 1.0}, {5, 1.0}};
  place_shared_again(state);
  for (int i = 0; i < 9; i++) push({reads(1)});
  fill_station(state, cpu);
  EXPECT_THAT(cpu.station.slots(), SizeIs(1));
}

/// Tiles 1 to 3 are the results of chains of one, two and three tasks.
class LastChains : public Choosing {
 protected:
  LastChains() {
    backend.seconds = {{1, 1.0}, {2, 1.0}};
    for (std::uintptr_t output = 1; output <= 3; output++) {
      backend.where.insert({tile(output), gpu_.node});
      for (std::uintptr_t rest = 1; rest < output; rest++) submit({updates(output)});
    }
  }
  std::uintptr_t others_ = 100;
};

TEST_F(LastChains, TakeASixthOfTheTimeThatIsLeft) {
  const auto task = submit({updates(3)});
  for (int i = 0; i < 32; i++) submit({overwrites(++others_)});
  EXPECT_TRUE(is_last_chain(state, *task, rate_of_all(state, gpu_, *task)));  // 36 tasks on two GPUs, and a chain of 3
  submit({overwrites(++others_)});
  EXPECT_FALSE(is_last_chain(state, *task, rate_of_all(state, gpu_, *task)));
}

TEST_F(LastChains, AreNotThoseWhoseResultsAreRead) {
  const auto task = submit({updates(3)});
  submit({reads(3)});
  EXPECT_FALSE(is_last_chain(state, *task, rate_of_all(state, gpu_, *task)));
}

TEST_F(LastChains, AreNotThoseThatReadResults) {
  submit({overwrites(4)});
  const auto task = submit({updates(3), reads(4)});
  EXPECT_FALSE(is_last_chain(state, *task, rate_of_all(state, gpu_, *task)));
}

TEST_F(LastChains, RunTheLongestFirst) {
  const auto shortest = reserve(gpu_, {updates(1)}), middle = reserve(gpu_, {updates(2)}),
             longest = reserve(gpu_, {updates(3)});
  for (const auto task : {longest, middle, shortest}) EXPECT_EQ(next_task(state, gpu_, 1)->task->id, task);
}

TEST_F(LastChains, BeginALongerSharedOneFirst) {
  reserve(gpu_, {updates(2)});
  const auto longer = push({updates(3)});
  push({updates(1)});
  EXPECT_EQ(id_of(choose_task(state, gpu_)), longer);
  reserve(gpu_, {updates(2)});
  EXPECT_EQ(choose_task(state, gpu_), nullptr);
}

}  // namespace
}  // namespace tessera::scheduler
