// SPDX-License-Identifier: BSD-3-Clause
// How a dimension is cut into tiles: some cases by hand, and the properties of both kinds of edges for many sizes.
#include "tile/edges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tessera::test::edges_cpp {
namespace {

using tile::Edges, tile::EdgeTiles, tile::LastTiles;

template <typename End>
std::vector<Index> extents(Index whole, Index tile, End end) {
  const Edges edges(whole, tile, end);
  std::vector<Index> all;
  for (Index i = 0; i < edges.count(); i++) all.push_back(edges.extent(i));
  return all;
}

TEST(Edges, AreRaggedOrEven) {
  using ::testing::ElementsAre;
  EXPECT_THAT(extents(1100, 256, EdgeTiles::Ragged), ElementsAre(256, 256, 256, 256, 76));
  EXPECT_THAT(extents(1100, 256, EdgeTiles::Even), ElementsAre(256, 256, 256, 192, 140));  // 332: whole multiples of 32
  EXPECT_THAT(extents(1088, 256, EdgeTiles::Even), ElementsAre(256, 256, 256, 160, 160));
}

TEST(Edges, AreEvenIfTheLastTileWouldBeLow) {
  using ::testing::ElementsAre;
  EXPECT_THAT(extents(1100, 256, EdgeTiles::NotLow), ElementsAre(256, 256, 256, 192, 140));
  EXPECT_THAT(extents(1151, 256, EdgeTiles::NotLow), ElementsAre(256, 256, 256, 192, 191));
  EXPECT_THAT(extents(1152, 256, EdgeTiles::NotLow), ElementsAre(256, 256, 256, 256, 128));
  EXPECT_THAT(extents(1024, 256, EdgeTiles::NotLow), ElementsAre(256, 256, 256, 256));
}

TEST(Edges, StayRegularIfTheTileDividesTheDimension) {
  using ::testing::ElementsAre;
  EXPECT_THAT(extents(1024, 256, EdgeTiles::Even), ElementsAre(256, 256, 256, 256));
  EXPECT_THAT(extents(256, 256, EdgeTiles::Even), ElementsAre(256));
  EXPECT_THAT(extents(100, 256, EdgeTiles::Even), ElementsAre(100));  // one tile
  EXPECT_THAT(extents(0, 256, EdgeTiles::Even), ElementsAre());
}

TEST(Edges, MayEndInNarrowTiles) {
  using ::testing::ElementsAre;
  EXPECT_THAT(extents(1100, 256, LastTiles{3, 16}), ElementsAre(256, 256, 256, 256, 28, 16, 16, 16));
  EXPECT_THAT(extents(1072, 256, LastTiles{3, 16}), ElementsAre(256, 256, 256, 256, 16, 16, 16));
  EXPECT_THAT(extents(70, 256, LastTiles{2, 32}), ElementsAre(6, 32, 32));
  EXPECT_THAT(extents(512, 256, LastTiles{1, 256}), ElementsAre(256, 256));
}

TEST(Edges, HaveTilesOfFullExtentAndNoneThatIsEmpty) {
  for (const auto at_the_edge : {EdgeTiles::Ragged, EdgeTiles::Even, EdgeTiles::NotLow})
    for (const Index tile : {1, 16, 31, 64, 100, 256})
      for (Index whole = 1; whole <= 4 * tile; whole++) {
        const Edges edges(whole, tile, at_the_edge);
        ASSERT_EQ(edges.count(), tile::divide_up(whole, tile));
        ASSERT_EQ(edges.begin(0), 0);
        ASSERT_EQ(edges.begin(edges.count()), whole);
        for (Index i = 0; i < edges.count(); i++) {
          ASSERT_GT(edges.extent(i), 0) << whole << " in tiles of " << tile;
          ASSERT_LE(edges.extent(i), tile) << whole << " in tiles of " << tile;
          if (i + 2 < edges.count()) {
            ASSERT_EQ(edges.extent(i), tile) << whole << " in tiles of " << tile;
          }
        }
        const Index last = edges.count() - 1;
        if (at_the_edge == EdgeTiles::Even && last > 0 && tile % 32 == 0) {
          ASSERT_LE(edges.extent(last - 1) - edges.extent(last), whole % tile == 0 ? 0 : 64);
        }
      }
}

}  // namespace
}  // namespace tessera::test::edges_cpp
