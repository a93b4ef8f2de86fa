// SPDX-License-Identifier: BSD-3-Clause
// The order in which tile products are submitted: every term once, and no two owners of an input tile at the same time.
#include "unroll/order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <tuple>

namespace tessera::test {
namespace {

using detail::OwnerGrid;
using unroll::product_order;
using unroll::Step;

struct Shape {
  Index mt, nt, kt;
};
constexpr std::array<Shape, 6> shapes{{{1, 1, 1}, {1, 1, 5}, {4, 1, 3}, {3, 5, 1}, {5, 4, 7}, {7, 7, 2}}};

struct Blocks {
  Index rows, columns;
};
constexpr std::array<Blocks, 4> blocks{{{0, 0}, {1, 1}, {2, 3}, {100, 2}}};

constexpr std::array<OwnerGrid, 5> grids{{{1, 1}, {2, 2}, {1, 3}, {2, 4}, {3, 2}}};

/// Calls `check` with the steps of every shape, block and grid (null for none).
template <typename Check>
void for_all_orders(Check check) {
  for (const auto& shape : shapes)
    for (const auto& block : blocks) {
      check(shape, nullptr, product_order(shape.mt, shape.nt, shape.kt, block.rows, block.columns, nullptr));
      for (const auto& grid : grids)
        check(shape, &grid, product_order(shape.mt, shape.nt, shape.kt, block.rows, block.columns, &grid));
    }
}

TEST(ProductOrder, HasEveryTermOnce) {
  for_all_orders([](const Shape& shape, const OwnerGrid*, const std::vector<Step>& steps) {
    std::set<std::tuple<Index, Index, Index>> seen;
    for (const auto& step : steps) {
      EXPECT_TRUE(step.i >= 0 && step.i < shape.mt && step.j >= 0 && step.j < shape.nt);
      EXPECT_TRUE(step.k >= 0 && step.k < shape.kt);
      EXPECT_TRUE(seen.emplace(step.i, step.j, step.k).second) << "twice";
    }
    EXPECT_EQ(std::ssize(seen), shape.mt * shape.nt * shape.kt);
  });
}

TEST(ProductOrder, MarksTheEarliestTermOfEachTileAsFirst) {
  for_all_orders([](const Shape&, const OwnerGrid*, const std::vector<Step>& steps) {
    std::set<std::pair<Index, Index>> begun;
    for (const auto& step : steps) EXPECT_EQ(step.term == 0, begun.emplace(step.i, step.j).second);
  });
}

TEST(ProductOrder, CountsTheTermsOfEachTileInOrder) {
  for_all_orders([](const Shape&, const OwnerGrid*, const std::vector<Step>& steps) {
    std::map<std::pair<Index, Index>, Index> terms;
    for (const auto& step : steps) EXPECT_EQ(step.term, (terms[{step.i, step.j}]++));
  });
}

TEST(ProductOrder, DefersTheFirstBlockOfOwners) {
  const OwnerGrid grid{2, 2};
  for (const auto& step : product_order(6, 6, 4, 2, 3, &grid)) EXPECT_EQ(step.deferred, step.i < 2 && step.j < 3);
  for (const auto& step : product_order(6, 6, 4, 2, 3, nullptr)) EXPECT_FALSE(step.deferred);
}

/// r³ products on the tiles of r rows, r columns and r terms of each owner, then (r + 1)³ in all, and so on.
TEST(ProductOrder, GrowsTheFirstBlockAsACube) {
  for (const auto& grid : {OwnerGrid{1, 1}, OwnerGrid{2, 2}, OwnerGrid{1, 3}}) {
    const auto steps = product_order(4 * grid.p, 4 * grid.q, 4, 0, 0, &grid);
    std::size_t s = 0;
    for (Index r = 1; r <= 4; r++)
      for (; s < static_cast<std::size_t>(r * r * r * grid.size()); s++)
        EXPECT_TRUE(steps[s].i < r * grid.p && steps[s].j < r * grid.q && steps[s].term < r) << s;
    EXPECT_EQ(s, steps.size());
  }
}

TEST(ProductOrder, HasNoOwnersWithoutAGrid) {
  for_all_orders([](const Shape&, const OwnerGrid* grid, const std::vector<Step>& steps) {
    for (const auto& step : steps) EXPECT_EQ(step.owner == -1, grid == nullptr);
  });
}

TEST(ProductOrder, GivesEachTileOneOwnerOfTheGrid) {
  for_all_orders([](const Shape&, const OwnerGrid* grid, const std::vector<Step>& steps) {
    if (grid == nullptr) return;
    for (const auto& step : steps) EXPECT_EQ(step.owner, step.i % grid->p * grid->q + step.j % grid->q);
  });
}

TEST(ProductOrder, DealsTilesOutEvenly) {
  for (const auto& grid : grids) {
    std::map<int, Index> tiles;
    for (const auto& step : product_order(4 * grid.p, 3 * grid.q, 1, 0, 0, &grid)) tiles[step.owner]++;
    EXPECT_EQ(std::ssize(tiles), grid.size());
    for (const auto& [owner, count] : tiles) EXPECT_EQ(count, 12) << "owner " << owner;
  }
}

TEST(ProductOrder, FinishesABlockBeforeTheNextBegins) {
  const OwnerGrid grid{2, 2};
  const auto steps = product_order(6, 6, 4, 2, 3, &grid);
  const auto block_of = [](const Step& step) { return std::pair(step.i / 2, step.j / 3); };
  std::set<std::pair<Index, Index>> finished;
  for (std::size_t s = 1; s < steps.size(); s++)
    if (block_of(steps[s]) != block_of(steps[s - 1])) {
      EXPECT_TRUE(finished.insert(block_of(steps[s - 1])).second);
      EXPECT_FALSE(finished.contains(block_of(steps[s])));
    }
}

TEST(ProductOrder, GrowsAllTilesOfABlockTogether) {
  constexpr Index mt = 3, nt = 2, kt = 5;
  const auto steps = product_order(mt, nt, kt, 0, 0, nullptr);
  for (std::size_t s = 0; s < steps.size(); s++) EXPECT_EQ(steps[s].k, static_cast<Index>(s) / (mt * nt));
}

/// With owners that keep step, at step s of its sum each of them wants one tile of a row of A and one of a column of B.
TEST(ProductOrder, OwnersOfAnInputTileWantItAtDifferentTimes) {
  for (const auto& grid : {OwnerGrid{2, 2}, OwnerGrid{1, 3}, OwnerGrid{2, 4}})
    for (Index kt = std::max(grid.p, grid.q); kt < 20; kt++) {
      std::map<std::pair<Index, Index>, Index> step_of_tile;                  // how far the sum of (i, j) has come
      std::map<std::tuple<char, Index, Index, Index>, std::set<int>> wanted;  // matrix, tile, step: by whom
      for (const auto& step : product_order(grid.p, grid.q, kt, 0, 0, &grid)) {
        const Index s = step_of_tile[{step.i, step.j}]++;
        EXPECT_TRUE((wanted[{'A', step.i, step.k, s}].insert(step.owner).second));
        EXPECT_TRUE((wanted[{'B', step.k, step.j, s}].insert(step.owner).second));
      }
      for (const auto& [tile, owners] : wanted)
        EXPECT_EQ(owners.size(), 1) << std::get<0>(tile) << " tiles, " << grid.p << 'x' << grid.q << ", " << kt
                                    << " terms, step " << std::get<3>(tile);
    }
}

}  // namespace
}  // namespace tessera::test
