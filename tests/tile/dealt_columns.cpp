// SPDX-License-Identifier: BSD-3-Clause
// Which GPU computes which tile of a block if each has whole columns.
#include "tile/dealt_columns.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

namespace tessera::test::dealt_columns_cpp {
namespace {

using ::testing::ElementsAre;
using tile::DealtColumns;

std::vector<int> column(const DealtColumns& dealt, Index rows, Index j) {
  std::vector<int> gpus;
  for (Index i = 0; i < rows; i++) gpus.push_back(dealt.of(i, j));
  return gpus;
}

TEST(DealtColumns, AreWholeIfTheyDivideEvenly) {
  const DealtColumns dealt(3, 2, 6);
  for (Index j = 0; j < 6; j++) EXPECT_THAT(column(dealt, 2, j), ElementsAre(j % 3, j % 3));
}

TEST(DealtColumns, RemainingColumnsAreCut) {
  EXPECT_THAT(column({3, 4, 4}, 4, 2), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(column({3, 4, 4}, 4, 3), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(column({3, 6, 2}, 6, 0), ElementsAre(0, 0, 0, 0, 1, 1));  // no GPU has a whole column
  EXPECT_THAT(column({3, 6, 2}, 6, 1), ElementsAre(1, 1, 2, 2, 2, 2));
  EXPECT_THAT(column({3, 1, 1}, 1, 0), ElementsAre(0));
}

TEST(DealtColumns, AreTheSameWorkForAllGpus) {
  for (const int gpus : {1, 2, 3, 4, 6})
    for (Index rows = 1; rows <= 7; rows++)
      for (Index columns = 1; columns <= 13; columns++) {
        const DealtColumns dealt(gpus, rows, columns);
        std::vector<Index> tiles(static_cast<std::size_t>(gpus));
        std::vector<std::set<Index>> its_rows(tiles.size()), its_columns(tiles.size());
        const Index left = columns % gpus;
        Index pairs = 0;  // pairs of a GPU and a remaining column in which the GPU has tiles
        for (Index j = 0; j < columns; j++) {
          const auto owners = column(dealt, rows, j);
          for (Index i = 0; i < rows; i++) {
            const auto gpu = static_cast<std::size_t>(owners[static_cast<std::size_t>(i)]);
            tiles.at(gpu)++, its_rows.at(gpu).insert(i), its_columns.at(gpu).insert(j);
          }
          if (j >= columns - left) pairs += std::ssize(std::set<int>(owners.begin(), owners.end()));
        }
        for (int gpu = 0; gpu < gpus; gpu++) {
          const auto g = static_cast<std::size_t>(gpu);
          const auto part = dealt.part(gpu);
          EXPECT_EQ(part.tiles, tiles[g]);
          EXPECT_EQ(part.rows, std::ssize(its_rows[g]));
          EXPECT_EQ(part.columns, std::ssize(its_columns[g]));
        }
        EXPECT_LE(*std::ranges::max_element(tiles) - *std::ranges::min_element(tiles), 1);
        EXPECT_LE(pairs, left > 0 ? gpus + left - 1 : 0);
      }
}

}  // namespace
}  // namespace tessera::test::dealt_columns_cpp
