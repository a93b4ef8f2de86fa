// SPDX-License-Identifier: BSD-3-Clause
// What a worker requests in advance, and which tiles StarPU counts.
#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Fetching : public IdeaTest {
 protected:
  /// The tiles that are to be fetched individually.
  static std::vector<TileId> tiles_of(const Prefetches& prefetches) {
    std::vector<TileId> tiles;
    for (const auto& [tile, priority] : prefetches.tiles) tiles.push_back(tile);
    return tiles;
  }
  void allow(std::initializer_list<std::uintptr_t> tiles) {
    for (const auto number : tiles) backend.fetchable.insert(tile(number));
  }

  Worker &gpu_ = add_gpu(1), &peer_ = add_gpu(2);
};

TEST_F(Fetching, RequestsEachTaskOnceInTheirOrder) {
  const auto second = reserve(gpu_, {reads(1), updates(2)}, 0), first = reserve(gpu_, {reads(3), updates(4)}, 1);
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, ElementsAre(first, second));
  EXPECT_TRUE(gpu_.station.slots()[0].issuing);
  EXPECT_THAT(gpu_.station.slots()[0].counted, ElementsAre(tile(3), tile(4)));
  fetches_issued(gpu_);
  EXPECT_FALSE(gpu_.station.slots()[0].issuing);
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, IsEmpty());
}

// StarPU would count the overwritten tile, and never decrement its count.
TEST_F(Fetching, RequestsOnlyTheInputsOfATaskThatOverwritesATile) {
  const auto task = reserve(gpu_, {reads(1), updates(2), overwrites(3)}, -7);
  const auto prefetches = fetch_ahead(state, gpu_);
  EXPECT_THAT(prefetches.tasks, IsEmpty());
  ASSERT_THAT(tiles_of(prefetches), ElementsAre(tile(1), tile(2)));
  EXPECT_EQ(prefetches.tiles[0].priority, -7);
  EXPECT_THAT(gpu_.station.slots()[0].counted, ElementsAre(tile(1), tile(2)));
  EXPECT_TRUE(gpu_.station.slots()[0].issuing);
  EXPECT_TRUE(backend.counted.at(task));
  EXPECT_THAT(tiles_of(fetch_ahead(state, gpu_)), IsEmpty());
}

// StarPU limits the requests of different tasks that wait for the copy to the host.
TEST_F(Fetching, RequestsTilesOneByOneIfOneComesThroughTheHost) {
  auto& far = add_gpu(3);
  backend.where = {{tile(1), gpu_.node}, {tile(2), host_node}};
  const auto task = reserve(far, {reads(1), updates(2)});
  const auto prefetches = fetch_ahead(state, far);
  EXPECT_THAT(prefetches.tasks, IsEmpty());
  EXPECT_THAT(tiles_of(prefetches), ElementsAre(tile(1), tile(2)));
  EXPECT_TRUE(backend.counted.at(task));
  const auto at_a_peer = reserve(peer_, {reads(1), updates(2)});
  EXPECT_THAT(fetch_ahead(state, peer_).tasks, ElementsAre(at_a_peer));
}

TEST_F(Fetching, RequestsNothingForATaskThatReadsNothing) {
  reserve(gpu_, {overwrites(1)});
  const auto prefetches = fetch_ahead(state, gpu_);
  EXPECT_THAT(prefetches.tasks, IsEmpty());
  EXPECT_THAT(prefetches.tiles, IsEmpty());
  EXPECT_FALSE(gpu_.station.slots()[0].issuing);
}

TEST_F(Fetching, WaitsForATileOnItsWayToAPeer) {
  backend.on_the_way = {{tile(1), 2}};
  const auto waits = reserve(gpu_, {reads(1), updates(2)}), does_not = reserve(gpu_, {reads(3), updates(4)});
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, ElementsAre(does_not));
  EXPECT_TRUE(gpu_.station.slots()[0].waits);
  backend.where = {{tile(1), 2}};
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, ElementsAre(waits));
  EXPECT_FALSE(gpu_.station.slots()[0].waits);
}

TEST_F(Fetching, FetchesTheOtherTilesOfATaskThatWaits) {
  allow({1, 2, 3, 4});
  backend.on_the_way = {{tile(1), 2}, {tile(3), 1}};
  backend.where = {{tile(4), 1}};
  reserve(gpu_, {reads(1), reads(2), reads(3), reads(4)});
  EXPECT_THAT(tiles_of(fetch_ahead(state, gpu_)), ElementsAre(tile(2)));
  EXPECT_THAT(tiles_of(fetch_ahead(state, gpu_)), IsEmpty());
  backend.where.insert({tile(1), 2});  // the peer has it, so the rest is fetched, and each tile is counted once
  const auto rest = fetch_ahead(state, gpu_);
  EXPECT_THAT(rest.tasks, IsEmpty());
  EXPECT_THAT(tiles_of(rest), ElementsAre(tile(1), tile(3), tile(4)));
}

TEST_F(Fetching, DoesNotWaitIfWaitingIsSwitchedOff) {
  state.options.wait = false;
  backend.on_the_way = {{tile(1), 2}};
  const auto task = reserve(gpu_, {reads(1)});
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, ElementsAre(task));
}

/// Peers whose copies take the wires to the host, at 12 MB/s; the host's link has 10. Tiles have 1000 bytes.
class FetchingOverABus : public Fetching {
 protected:
  FetchingOverABus() {
    Links links{{false, true, true}, std::vector(3, std::vector<double>(3, 10.0))};
    links.rate[1][2] = links.rate[2][1] = 12;
    state.cache.set_links(links);
    reserve(peer_, {reads(1), updates(2)});
    fetch_ahead(state, peer_);
    backend.on_the_way = {{tile(1), 2}};
  }
  bool waits(int output = 3) {
    reserve(gpu_, {reads(1), updates(output)});
    fetch_ahead(state, gpu_);
    return gpu_.station.slots().back().waits;
  }
};

// The peer's copy ends after 0.1 ms, and the next one would need 0.08 more. The host's link is idle.
TEST_F(FetchingOverABus, DoesNotWaitIfTheHostBringsTheTileEarlier) { EXPECT_FALSE(waits()); }

TEST_F(FetchingOverABus, WaitsWhileTheOwnLinkIsBusy) {
  reserve(gpu_, {reads(4), updates(5)});
  fetch_ahead(state, gpu_);
  EXPECT_TRUE(waits());
}

TEST_F(FetchingOverABus, TheTilesThatThePeerHasRequestedBeforeCount) {
  pop(peer_, {reads(6)});
  reserve(gpu_, {reads(4), updates(5)});
  fetch_ahead(state, gpu_);
  backend.where = {{tile(5), 1}};
  EXPECT_FALSE(waits());
}

TEST_F(FetchingOverABus, WaitsIfTheCopyHasWiresOfItsOwn) {
  backend.own_wires = {{2, 1}};
  EXPECT_TRUE(waits());
}

TEST_F(FetchingOverABus, WaitsIfTheCopyIsTooFastForTheWiresToTheHost) {
  Links links{{false, true, true}, std::vector(3, std::vector<double>(3, 10.0))};
  links.rate[1][2] = links.rate[2][1] = 16;
  state.cache.set_links(links);
  EXPECT_TRUE(waits());
}

TEST_F(FetchingOverABus, WaitsIfMemoryIsShort) {
  gpu_.memory = 2 * tile_bytes;
  EXPECT_TRUE(waits());
}

TEST_F(FetchingOverABus, WaitsAtASuggestedHome) {
  backend.homes[tile(3)] = gpu_.id;
  EXPECT_TRUE(waits());
}

TEST_F(Fetching, ATaskTakesOverAbandonedTilesIfItHasAllItsTiles) {
  state.abandoned.add({tile(1), tile(2)}, gpu_.node);
  const auto task = reserve(gpu_, {reads(1), reads(3)});
  backend.where = {{tile(1), 1}, {tile(3), 1}};
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, IsEmpty());
  EXPECT_TRUE(backend.counted.at(task));
  EXPECT_THAT(gpu_.station.slots()[0].counted, ElementsAre(tile(1)));
  EXPECT_THAT(state.abandoned.take_over(*submit({reads(1), reads(2)}), gpu_.node), ElementsAre(tile(2)));
}

TEST_F(Fetching, ATaskWithoutItsTilesTakesNothingOver) {
  state.abandoned.add({tile(1)}, gpu_.node);
  const auto task = reserve(gpu_, {reads(1)});
  EXPECT_THAT(fetch_ahead(state, gpu_).tasks, ElementsAre(task));
  EXPECT_FALSE(state.abandoned.empty());
}

TEST_F(Fetching, AbandonedTilesAreCountedByMemory) {
  state.abandoned.add({tile(1), tile(1)}, 1);
  const auto task = submit({reads(1)});
  EXPECT_THAT(state.abandoned.take_over(*task, 2), IsEmpty());
  EXPECT_THAT(state.abandoned.take_over(*task, 1), ElementsAre(tile(1)));
  EXPECT_THAT(state.abandoned.take_over(*task, 1), ElementsAre(tile(1)));
  EXPECT_TRUE(state.abandoned.empty());
}

TEST_F(Fetching, AbandonedTilesEnd) {
  state.abandoned.add({tile(1), tile(2)}, 1);
  state.abandoned.add({tile(1)}, 2);
  state.abandoned.forget(tile(1));
  const auto task = submit({reads(1), reads(2)});
  EXPECT_THAT(state.abandoned.take_over(*task, 2), IsEmpty());
  EXPECT_THAT(state.abandoned.take_over(*task, 1), ElementsAre(tile(2)));
  state.abandoned.forget(tile(2));
  EXPECT_TRUE(state.abandoned.empty());
}

}  // namespace
}  // namespace tessera::scheduler
