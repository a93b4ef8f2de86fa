// SPDX-License-Identifier: BSD-3-Clause
// Which memory counts as near, and how much of a task's data is near.
#include <limits>
#include <vector>

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Level = TileCache::Level;

using TileCacheTest = IdeaTest;

TEST_F(TileCacheTest, PeersAreAtLeastAsFastAsTheHost) {
  const auto peers_of = [](const TileCache& cache, unsigned node) {
    std::vector<unsigned> peers;
    for (unsigned source = 0; source < 5; source++)
      if (cache.is_peer(source, node)) peers.push_back(source);
    return peers;
  };
  EXPECT_THAT(peers_of(state.cache, 1), ElementsAre(2));
  EXPECT_THAT(peers_of(state.cache, 4), ElementsAre(3));
  EXPECT_THAT(peers_of(state.cache, host_node), IsEmpty());
  Links links{{false, true, true, true}, std::vector(4, std::vector<double>(4, 10))};
  links.rate[2][1] = std::numeric_limits<double>::quiet_NaN();
  links.rate[3][1] = 10;  // as fast as the host
  TileCache cache(backend);
  cache.set_links(links);
  EXPECT_THAT(peers_of(cache, 1), ElementsAre(3));
}

TEST_F(TileCacheTest, TheNearestMemoryThatHasTheTileIsItsLevel) {
  backend.where = {{tile(1), 1}, {tile(1), 2}, {tile(2), 2}, {tile(2), 3}, {tile(3), 3}, {tile(4), host_node}};
  EXPECT_EQ(state.cache.level(tile(1), 1), Level::Own);
  EXPECT_EQ(state.cache.level(tile(2), 1), Level::Peer);
  EXPECT_EQ(state.cache.level(tile(3), 1), Level::Far);
  EXPECT_EQ(state.cache.level(tile(4), 1), Level::Far);
}

TEST_F(TileCacheTest, ATileOnItsWayCountsAsArrived) {
  backend.on_the_way = {{tile(1), 1}, {tile(2), 2}};
  EXPECT_EQ(state.cache.level(tile(1), 1), Level::Own);
  EXPECT_EQ(state.cache.level(tile(2), 1), Level::Peer);
}

TEST_F(TileCacheTest, TilesTakeTheirBytesOverTheRateOfTheirLink) {
  EXPECT_DOUBLE_EQ(state.cache.seconds(100'000'000, 30'000'000, 1), 100.0 / 50 + 30.0 / 10);
  EXPECT_EQ(state.cache.seconds(0, 0, 1), 0);
}

TEST_F(TileCacheTest, TilesComeFromTheFastestPeer) {
  Links links{{false, true, true, true}, std::vector(4, std::vector<double>(4, 10))};
  links.rate[2][1] = 20, links.rate[3][1] = 40;
  state.cache.set_links(links);
  EXPECT_DOUBLE_EQ(state.cache.seconds(40'000'000, 0, 1), 1);
}

TEST_F(TileCacheTest, AnUnknownRateCountsAsOneGigabytePerSecond) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  state.cache.set_links({{false, true}, std::vector(2, std::vector<double>(2, unknown))});
  EXPECT_DOUBLE_EQ(state.cache.seconds(0, 2'000'000'000, 1), 2);
}

TEST_F(TileCacheTest, MissingTilesAreReadAndNotThere) {
  backend.where = {{tile(1), 1}};
  backend.on_the_way = {{tile(2), 1}};
  const auto task = submit({reads(1), reads(2), updates(3), overwrites(4)});
  EXPECT_THAT(state.cache.missing(*task, 1), ElementsAre(tile(2), tile(3)));
  EXPECT_FALSE(state.cache.has_all(*task, 1));
  backend.where.insert({{tile(2), 1}, {tile(3), 1}});
  EXPECT_TRUE(state.cache.has_all(*task, 1));
}

TEST_F(TileCacheTest, MovingFromAPeerIsFasterThanFromTheHost) {
  backend.where = {{tile(1), 1}, {tile(2), 2}, {tile(3), 3}};
  EXPECT_DOUBLE_EQ(state.cache.seconds_to_move(*submit({reads(1)}), 1), 0);
  EXPECT_DOUBLE_EQ(state.cache.seconds_to_move(*submit({reads(2)}), 1), tile_bytes / 50e6);
  EXPECT_DOUBLE_EQ(state.cache.seconds_to_move(*submit({reads(3), reads(2), overwrites(4)}), 1),
                   tile_bytes / 10e6 + tile_bytes / 50e6);
}

TEST_F(TileCacheTest, ATileIsOnItsWayToAPeerUntilOneHasIt) {
  EXPECT_FALSE(state.cache.on_its_way_to_a_peer(tile(1), 1));
  backend.on_the_way = {{tile(1), 2}};
  EXPECT_TRUE(state.cache.on_its_way_to_a_peer(tile(1), 1));
  EXPECT_FALSE(state.cache.on_its_way_to_a_peer(tile(1), 3));  // 2 is not a peer of 3
  backend.where = {{tile(1), 2}};
  EXPECT_FALSE(state.cache.on_its_way_to_a_peer(tile(1), 1));
  backend.where.clear();
  backend.on_the_way.insert({tile(1), 1});
  EXPECT_FALSE(state.cache.on_its_way_to_a_peer(tile(1), 1));
}

TEST_F(TileCacheTest, TheWayToTheHostTakesTimeByTheRateOfItsLink) {
  EXPECT_DOUBLE_EQ(state.cache.seconds_to_host(20'000'000, 1), 2);  // 10 MB/s
}

}  // namespace
}  // namespace tessera::scheduler
