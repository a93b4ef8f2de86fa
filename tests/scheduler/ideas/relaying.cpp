// SPDX-License-Identifier: BSD-3-Clause
// Which operands a GPU has loaded over the links of its peers.
#include "scheduler/ideas/relaying.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two GPUs with an NVLink; a tile takes 0.1 ms from the host, and 0.02 ms from the peer.
class Relaying : public IdeaTest {
 protected:
  Relaying() {
    state.options.relay = true;
    backend.own_wires = {{1, 2}, {2, 1}};
    for (int number = 1; number <= 20; number++) backend.where.insert({tile(number), host_node});
    state.now = 1;
  }
  /// Reserves a task for a GPU that reads a shared tile, and returns what the GPU requests.
  Prefetches request(Worker& worker, int number) {
    auto other = submit({reads(number)});  // so several tasks use the tile
    others_.push_back(std::move(other));
    last_ = reserve(worker, {reads(number), updates(100 + number)});
    backend.where.insert({tile(100 + number), worker.node});
    return fetch_ahead(state, worker);
  }
  static std::vector<std::pair<TileId, unsigned>> relayed(const Prefetches& prefetches) {
    std::vector<std::pair<TileId, unsigned>> tiles;
    for (const auto& [tile, node, priority] : prefetches.relayed) tiles.emplace_back(tile, node);
    return tiles;
  }
  /// Makes the GPU's link busy for one tile.
  void make_busy() {
    EXPECT_THAT(relayed(request(gpu_, 1)), IsEmpty());
    backend.on_the_way = {{tile(1), 1}};
    fetches_issued(gpu_);
  }

  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2);
  TaskId last_ = nullptr;

 private:
  std::vector<TaskPtr> others_;
};

TEST_F(Relaying, AnIdleLinkIsUsedFirst) { EXPECT_THAT(relayed(request(gpu_, 1)), IsEmpty()); }

TEST_F(Relaying, APeerLoadsATileIfTheOwnLinkIsBusy) {
  make_busy();
  const auto prefetches = request(gpu_, 2);
  EXPECT_THAT(relayed(prefetches), ElementsAre(std::pair(tile(2), peer_.node)));
  const auto& slot = gpu_.station.slots().back();
  EXPECT_TRUE(slot.waits);
  EXPECT_TRUE(slot.issuing) << "no other worker may take the task before the request has been issued";
  EXPECT_THAT(prefetches.tasks, IsEmpty());
}

TEST_F(Relaying, TheLoadIsBalanced) {
  make_busy();
  EXPECT_EQ(relayed(request(gpu_, 2)).size(), 1u);
  EXPECT_DOUBLE_EQ(seconds_to_load(state, peer_), 1e-4) << "the tile that it loads for the other GPU";
  EXPECT_THAT(relayed(request(gpu_, 3)), IsEmpty()) << "both links are busy, and the copy from the peer takes time";
}

TEST_F(Relaying, TilesOfAPeerAreNoLoadForTheLinkToTheHost) {
  make_busy();
  backend.where.insert({tile(1), 2});
  EXPECT_EQ(seconds_to_load(state, gpu_), 0);
}

TEST_F(Relaying, TheRelayRequestsTheTileForItsOwnTasks) {
  make_busy();
  request(gpu_, 2);
  EXPECT_THAT(relayed(request(peer_, 2)), IsEmpty());
  EXPECT_THAT(peer_.station.slots().back().counted, ::testing::Contains(tile(2)));
}

TEST_F(Relaying, NeedsAnotherReader) {
  make_busy();
  reserve(gpu_, {reads(2), updates(102)});
  EXPECT_THAT(relayed(fetch_ahead(state, gpu_)), IsEmpty());
}

TEST_F(Relaying, NotIfTheProgramSuggestsAHome) {
  make_busy();
  backend.homes[tile(102)] = gpu_.id;
  EXPECT_THAT(relayed(request(gpu_, 2)), IsEmpty());
}

TEST_F(Relaying, NotOverTheWiresToTheHost) {
  make_busy();
  backend.own_wires.clear();
  Links links{{false, true, true}, std::vector(3, std::vector<double>(3, 10.0))};
  links.rate[1][2] = links.rate[2][1] = 12;
  state.cache.set_links(links);
  EXPECT_THAT(relayed(request(gpu_, 2)), IsEmpty());
}

TEST_F(Relaying, NotIfMemoryIsShort) {
  make_busy();
  peer_.memory = 3 * tile_bytes;
  EXPECT_THAT(relayed(request(gpu_, 2)), IsEmpty());
}

TEST_F(Relaying, NotThroughAGpuThatCannotExecuteTheTask) {
  make_busy();
  backend.cannot = [](TaskId, int worker) { return worker == 2; };
  EXPECT_THAT(relayed(request(gpu_, 2)), IsEmpty());
}

TEST_F(Relaying, NotThroughAGpuThatHasLeft) {
  make_busy();
  remove_worker(state, peer_);
  EXPECT_THAT(relayed(request(gpu_, 2)), IsEmpty());
}

TEST_F(Relaying, NotIfSwitchedOff) {
  make_busy();
  state.options.relay = false;
  EXPECT_THAT(relayed(request(gpu_, 2)), IsEmpty());
}

// From the moment of the choice on: otherwise, an idle GPU would run the task before StarPU knows of the request.
TEST_F(Relaying, TheTileIsAwaitedForALimitedTime) {
  make_busy();
  request(gpu_, 2);
  EXPECT_TRUE(comes_through_relay(state, gpu_, tile(2)));
  fetches_issued(gpu_);
  EXPECT_FALSE(comes_through_relay(state, gpu_, tile(2))) << "StarPU has refused the request";
  backend.on_the_way.insert({tile(2), 2});
  EXPECT_TRUE(comes_through_relay(state, gpu_, tile(2)));
  state.now += 2.5e-4;
  EXPECT_FALSE(comes_through_relay(state, gpu_, tile(2)));
}

// The request at the relay counts for none of its tasks.
TEST_F(Relaying, ATaskOfTheRelayCountsTheTileAsUsual) {
  make_busy();
  request(gpu_, 2);
  fetches_issued(gpu_);
  backend.on_the_way.insert({tile(2), 2});
  const auto prefetches = request(peer_, 2);
  EXPECT_THAT(prefetches.tasks, ElementsAre(last_));
  EXPECT_THAT(peer_.station.slots().back().counted, ElementsAre(tile(2), tile(102)));
}

TEST_F(Relaying, IsOverWhenTheTaskIsTaken) {
  make_busy();
  request(gpu_, 2);
  EXPECT_TRUE(has_relays(state));
  fetches_issued(gpu_);
  backend.on_the_way.insert({tile(2), 2});
  take_reserved(state, gpu_, 1);
  EXPECT_FALSE(has_relays(state));
  EXPECT_FALSE(comes_through_relay(state, gpu_, tile(2)));
}

}  // namespace
}  // namespace tessera::scheduler
