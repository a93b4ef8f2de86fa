// SPDX-License-Identifier: BSD-3-Clause
// The order in which tile products are submitted: each term occurs once, and no two owners need an input tile at the
// same time.
#include "algorithms/product_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace tessera::test::product_order_cpp {
namespace {

using algorithms::for_each_product;
using algorithms::Owners;
using algorithms::Part;
using algorithms::Region;
using algorithms::Step;
using tile::OwnerGrid;

std::vector<Step> product_order(Index mt, Index nt, Region region, Index kt, algorithms::Block block,
                                const Owners& owners, tile::TileExtents tile = {}) {
  std::vector<Step> steps;
  for_each_product(mt, nt, region, kt, block, owners, tile, [&](const Step& step) { steps.push_back(step); });
  return steps;
}

struct Shape {
  Index mt, nt, kt;
};
constexpr std::array<Shape, 6> shapes{{{1, 1, 1}, {1, 1, 5}, {4, 1, 3}, {3, 5, 1}, {5, 4, 7}, {7, 7, 2}}};

/// The whole result, and triangles of it. The last tile row may span fewer tile columns than the others.
std::vector<Region> regions(const Shape& shape) {
  std::vector<Region> result{Part::All};
  for (const Index across : {1, 2, 4})
    if (tile::divide_up(shape.nt, across) == shape.mt)
      for (const auto part : {Part::Lower, Part::Upper}) result.emplace_back(part, across);
  return result;
}

/// In the last two cases, memory has no room for inputs in addition to a block.
constexpr std::array<algorithms::Block, 6> blocks{
    {{0, 0}, {1, 1}, {2, 3}, {100, 2}, {1, 1, true, true, 0}, {2, 3, true, true, 0}}};

constexpr std::array<OwnerGrid, 5> grids{{{1, 1}, {2, 2}, {1, 3}, {2, 4}, {3, 2}}};

/// Calls `check` with the steps of every shape, region, block and grid.
template <typename Check>
void for_all_orders(Check check) {
  for (const auto& shape : shapes)
    for (const auto& region : regions(shape))
      for (const auto& block : blocks) {
        const auto order = [&](const Owners& owners) {
          check(shape, region, owners, product_order(shape.mt, shape.nt, region, shape.kt, block, owners));
        };
        order({});
        for (const auto& grid : grids) order({grid, shape.mt, shape.nt, region});
      }
}

TEST(ProductOrder, HasEveryTermOnce) {
  for_all_orders([](const Shape& shape, const Region& region, const Owners&, const std::vector<Step>& steps) {
    std::set<std::tuple<Index, Index, Index>> seen;
    for (const auto& step : steps) {
      EXPECT_TRUE(step.i >= 0 && step.i < shape.mt && step.j >= 0 && step.j < shape.nt);
      EXPECT_TRUE(step.k >= 0 && step.k < shape.kt);
      EXPECT_TRUE(region.contains(step.i, step.j));
      EXPECT_TRUE(seen.emplace(step.i, step.j, step.k).second) << "twice";
    }
    EXPECT_EQ(std::ssize(seen), region.tiles(shape.mt, shape.nt) * shape.kt);
  });
}

TEST(ProductOrder, MarksTheEarliestTermOfEachTileAsFirst) {
  for_all_orders([](const Shape&, const Region&, const Owners&, const std::vector<Step>& steps) {
    std::set<std::pair<Index, Index>> begun;
    for (const auto& step : steps) EXPECT_EQ(step.term == 0, begun.emplace(step.i, step.j).second);
  });
}

TEST(ProductOrder, CountsTheTermsOfEachTileInOrder) {
  for_all_orders([](const Shape&, const Region&, const Owners&, const std::vector<Step>& steps) {
    std::map<std::pair<Index, Index>, Index> terms;
    for (const auto& step : steps) EXPECT_EQ(step.term, (terms[{step.i, step.j}]++));
  });
}

TEST(ProductOrder, DefersTheFirstBlockOfOwners) {
  const auto order = [](const Owners& owners) { return product_order(6, 6, Part::All, 4, {2, 3}, owners); };
  for (const auto& step : order({{2, 2}, 6, 6, Part::All})) EXPECT_EQ(step.deferred, step.i < 2 && step.j < 3);
  for (const auto& step : order({})) EXPECT_FALSE(step.deferred);
}

/// The first r³ products of each owner are on its first r rows, r columns and r terms, for r = 1, 2, … This holds for
/// the first quarter of the terms; after these, results are finished one after another.
TEST(ProductOrder, GrowsTheFirstBlockAsACube) {
  for (const auto& grid : {OwnerGrid{1, 1}, OwnerGrid{2, 2}, OwnerGrid{1, 3}}) {
    const Index mt = Index{4} * grid.p, nt = Index{4} * grid.q;
    const auto steps = product_order(mt, nt, Part::All, 16, {}, {grid, mt, nt, Part::All});
    std::size_t s = 0;
    for (Index r = 1; r <= 4; r++)
      for (; s < static_cast<std::size_t>(r * r * r * grid.size()); s++)
        EXPECT_TRUE(steps[s].i < r * grid.p && steps[s].j < r * grid.q && steps[s].term < r) << s;
    for (; s < steps.size(); s++) EXPECT_GE(steps[s].term, 4);
  }
}

/// Tiles are four times as high as wide: a shell has four tile columns for each tile row.
TEST(ProductOrder, GrowsInElementsEvenIfTilesAreNotSquare) {
  const auto steps = product_order(2, 8, Part::All, 8, {}, {{1, 1}, 2, 8, Part::All}, {4, 1, 4});
  for (std::size_t s = 0; s < 4; s++) EXPECT_TRUE(steps[s].i == 0 && steps[s].j < 4 && steps[s].term == 0) << s;
}

/// Each owner adds the last terms of one tile after another, so that each finished tile can be written back.
TEST(ProductOrder, FinishesOneResultAfterAnother) {
  constexpr Index kt = 8, together = 2;
  for (const auto& grid : {OwnerGrid{1, 1}, OwnerGrid{2, 2}, OwnerGrid{1, 3}}) {
    const Owners owners(grid, 6, 6, Part::All);
    std::map<int, std::pair<Index, Index>> under_way;
    for (const auto& step : product_order(6, 6, Part::All, kt, {}, owners)) {
      if (step.term < together) continue;
      const std::pair tile(step.i, step.j);
      const auto [at, begins] = under_way.try_emplace(owners.of(step.i, step.j), tile);
      EXPECT_EQ(at->second, tile);
      EXPECT_TRUE(!begins || step.term == together);
      if (step.term + 1 == kt) under_way.erase(at);
    }
  }
}

/// If there is no memory for a block's inputs, each owner starts the block with the last term of the previous block,
/// which is a neighbour.
TEST(ProductOrder, ABlockBeginsWithInputsOfThePreviousBlock) {
  for (const auto& grid : {OwnerGrid{1, 1}, OwnerGrid{2, 2}}) {
    constexpr algorithms::Block block{2, 4, true, true, 0};
    const Owners owners(grid, 6, 12, Part::All);
    const auto block_of = [&](const Step& step) { return std::pair(step.i / block.rows, step.j / block.columns); };
    std::map<int, Step> last;
    int changes = 0;
    for (const auto& step : product_order(6, 12, Part::All, 5, block, owners)) {
      const auto [before, is_first] = last.try_emplace(owners.of(step.i, step.j), step);
      const auto [i, j] = block_of(step);
      const auto [i_before, j_before] = block_of(before->second);
      if (i != i_before || j != j_before) {
        changes++;
        EXPECT_EQ(std::abs(i - i_before) + std::abs(j - j_before), 1);
        EXPECT_EQ(step.k, before->second.k);
      }
      before->second = step;
    }
    EXPECT_EQ(changes, 8 * grid.size());
  }
}

TEST(ProductOrder, UsesLayersIfInputsDoNotFitOrGpusAreUnequal) {
  algorithms::Block little_memory{4, 4}, unequal{4, 4};
  little_memory.resident = 7, unequal.tile_after_tile = false;
  for (const auto& block : {little_memory, unequal}) {
    const auto steps = product_order(8, 8, Part::All, 8, block, {{2, 2}, 8, 8, Part::All});
    const std::size_t tiles = 16;
    for (std::size_t s = tiles * 8; s < steps.size(); s++)  // the first block grows as a cube
      EXPECT_EQ(steps[s].term, static_cast<Index>(s / tiles % 8));
  }
}

TEST(ProductOrder, FinishesABlockBeforeTheNextBegins) {
  const auto steps = product_order(6, 6, Part::All, 4, {2, 3}, {{2, 2}, 6, 6, Part::All});
  const auto block_of = [](const Step& step) { return std::pair(step.i / 2, step.j / 3); };
  std::set<std::pair<Index, Index>> finished;
  for (std::size_t s = 1; s < steps.size(); s++)
    if (block_of(steps[s]) != block_of(steps[s - 1])) {
      EXPECT_TRUE(finished.insert(block_of(steps[s - 1])).second);
      EXPECT_FALSE(finished.contains(block_of(steps[s])));
    }
}

TEST(ProductOrder, BeginsWithTermsOfTheOwnProcess) {  // processes in a row, of which process j mod q has term j
  for (const int q : {2, 3})
    for (const int gpus : {1, 2}) {
      const Index kt = 4 * q * gpus + 1;
      const Owners owners({1, gpus}, 1, 2 * q * gpus, Part::All, 0, 1, {1, q});
      for (Index j = 0; j < 2 * q * gpus; j++) {
        std::set<Index> terms;
        for (Index s = 0; s < kt; s++) terms.insert(owners.term(0, j, s, kt));
        EXPECT_EQ(std::ssize(terms), kt);
        for (Index s = 0; s + q * gpus < kt; s += q * gpus) EXPECT_EQ(owners.term(0, j, s, kt) % q, (j + 1) % q);
      }
    }
}

TEST(ProductOrder, GrowsAllTilesOfABlockTogether) {
  constexpr Index mt = 3, nt = 2, kt = 5;
  const auto steps = product_order(mt, nt, Part::All, kt, {}, {});
  for (std::size_t s = 0; s < steps.size(); s++) EXPECT_EQ(steps[s].k, static_cast<Index>(s) / (mt * nt));
}

/// The order computed by sorting all terms. @pre  there are owners, and all of C is one block
std::vector<Step> sorted_terms(const Shape& shape, const Region& region, OwnerGrid grid, const Owners& owners,
                               Index together, tile::TileExtents tile) {
  std::vector<Step> steps;
  for (Index s = 0; s < shape.kt; s++)
    for (Index j = 0; j < shape.nt; j++)
      for (Index i = 0; i < shape.mt; i++)
        if (region.contains(i, j)) steps.push_back({i, j, owners.term(i, j, s, shape.kt), s, true});
  std::ranges::stable_sort(steps, {}, [&](const Step& step) {
    const Index row = step.i / grid.p, column = step.j / grid.q,
                square = std::max((row + 1) * tile.m, (column + 1) * tile.n);
    return step.term < together ? std::tuple(1, std::max(square, (step.term + 1) * tile.k), Index{0}, Index{0})
                                : std::tuple(2, square, row, column);
  });
  return steps;
}

TEST(ProductOrder, OfTheFirstBlockSortsByShellThenByTile) {
  const auto fields = [](const Step& step) { return std::tuple(step.i, step.j, step.k, step.term, step.deferred); };
  for (const auto& shape : {Shape{6, 12, 9}, {12, 6, 1}, {12, 12, 16}, {6, 6, 40}})
    for (const auto& region : regions(shape))
      for (const auto& grid : {OwnerGrid{1, 1}, {2, 2}, {1, 3}, {3, 2}})
        for (const auto& tile : {tile::TileExtents{1, 1, 1}, {4, 1, 4}, {2, 3, 5}, {7, 7, 2}})
          for (const bool by_tile : {true, false}) {
            algorithms::Block block;
            block.tile_after_tile = by_tile;
            const Index together = by_tile ? shape.kt - std::lround(0.75 * static_cast<double>(shape.kt)) : shape.kt;
            const Owners owners(grid, shape.mt, shape.nt, region);
            const auto steps = product_order(shape.mt, shape.nt, region, shape.kt, block, owners, tile);
            EXPECT_TRUE(std::ranges::equal(steps, sorted_terms(shape, region, grid, owners, together, tile), {}, fields,
                                           fields))
                << shape.mt << 'x' << shape.nt << ", " << shape.kt << " terms, " << grid.p << 'x' << grid.q;
          }
}

TEST(Owners, AreNobodyWithoutAGrid) { EXPECT_EQ(Owners().of(3, 4), -1); }

TEST(Owners, OfAllTilesAreThoseOfAChessboard) {
  for (const auto& grid : grids) {
    const Owners owners(grid, 9, 7, Part::All);
    for (Index i = 0; i < 9; i++)
      for (Index j = 0; j < 7; j++) EXPECT_EQ(owners.of(i, j), i % grid.p * grid.q + j % grid.q);
  }
}

TEST(Owners, OfAViewAreThoseOfTheMatrix) {
  for (const auto& grid : grids) {
    const Owners matrix(grid, 9, 9, Part::All), view(grid, 6, 4, Part::All, 3, 5);
    for (Index i = 0; i < 6; i++)
      for (Index j = 0; j < 4; j++) EXPECT_EQ(view.of(i, j), matrix.of(3 + i, 5 + j));
  }
}

/// Tiles of `across` rows and one column.
TEST(Region, HasTheTilesWithAPartOfTheTriangle) {
  for (const Index across : {1, 2, 4})
    for (const auto part : {Part::Lower, Part::Upper})
      for (const Index mt : {1, 2, 5}) {
        const Region region(part, across);
        Index tiles = 0;
        for (Index i = 0; i < mt; i++)
          for (Index j = 0; j < mt * across; j++) {
            Index elements = 0;  // computed elements of the tile, in halves: an element on the diagonal counts one half
            for (Index row = i * across; row < (i + 1) * across; row++)
              elements += row == j ? 1 : (row > j) == (part == Part::Lower) ? 2 : 0;
            EXPECT_EQ(region.work(i, j), elements);
            EXPECT_EQ(region.contains(i, j), elements > 0);
            const bool crossed = j >= i * across && j < (i + 1) * across;
            EXPECT_EQ(region.on_diagonal(i, j), crossed);
            if (crossed) {
              EXPECT_EQ(region.first_row(j, 7), 7 * (j - i * across));
            }
            tiles += elements > 0 ? 1 : 0;
          }
        EXPECT_EQ(region.tiles(mt, mt * across), tiles);
      }
}

/// No owner has more than one tile above the mean, which need not be an integer.
TEST(Owners, OfATriangleHaveTheSameWork) {
  for (const auto& grid : grids)
    for (const auto part : {Part::Lower, Part::Upper})
      for (const Index across : {1, 2, 4})
        for (const Index mt : {1, 2, 3, 8, 9, 16, 17}) {
          const Region region(part, across);
          const Owners owners(grid, mt, mt * across, region);
          std::vector<Index> work(static_cast<std::size_t>(grid.size()));
          for (Index i = 0; i < mt; i++)
            for (Index j = 0; j < mt * across; j++) {
              if (!region.contains(i, j)) continue;
              ASSERT_TRUE(owners.of(i, j) >= 0 && owners.of(i, j) < grid.size());
              work[static_cast<std::size_t>(owners.of(i, j))] += region.work(i, j);
            }
          const Index all = mt * mt * across * across;
          EXPECT_LE(std::ranges::max(work), all / grid.size() + 2 * across)
              << grid.p << 'x' << grid.q << ", " << mt << 'x' << mt * across;
        }
}

/// If all owners advance at the same rate, each needs, at step s of its sum, a tile from a row of A and a tile from a
/// column of B.
TEST(Owners, OfOneRowUseAnInputTileAtDifferentTimes) {
  for (const auto& grid : {OwnerGrid{2, 2}, OwnerGrid{1, 3}, OwnerGrid{2, 4}})
    for (Index kt = std::max(grid.p, grid.q); kt < 20; kt++) {
      const Owners owners(grid, grid.p, grid.q, Part::All);
      std::map<std::pair<Index, Index>, Index> step_of_tile;                  // terms of (i, j) so far
      std::map<std::tuple<char, Index, Index, Index>, std::set<int>> wanted;  // owners by matrix, tile and step
      for (const auto& step : product_order(grid.p, grid.q, Part::All, kt, {}, owners)) {
        const Index s = step_of_tile[{step.i, step.j}]++;
        EXPECT_TRUE((wanted[{'A', step.i, step.k, s}].insert(owners.of(step.i, step.j)).second));
        EXPECT_TRUE((wanted[{'B', step.k, step.j, s}].insert(owners.of(step.i, step.j)).second));
      }
      for (const auto& [tile, who] : wanted)
        EXPECT_EQ(who.size(), 1) << std::get<0>(tile) << " tiles, " << grid.p << 'x' << grid.q << ", " << kt
                                 << " terms, step " << std::get<3>(tile);
    }
}

}  // namespace
}  // namespace tessera::test::product_order_cpp
