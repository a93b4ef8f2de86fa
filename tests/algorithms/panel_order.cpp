// SPDX-License-Identifier: BSD-3-Clause
// The order of products in tall panels.
#include "algorithms/panel_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <tuple>

namespace tessera::test::panel_order_cpp {
namespace {

using algorithms::Owners;
using algorithms::panel_order;
using algorithms::Panels;
using algorithms::Part;
using algorithms::Step;
using tile::OwnerGrid;

struct Shape {
  Index mt, nt, kt;
};
constexpr std::array<Shape, 6> shapes{{{1, 1, 1}, {1, 16, 8}, {1, 3, 5}, {3, 1, 4}, {4, 7, 3}, {5, 5, 1}}};

template <typename Check>
void for_all_orders(Check check) {
  for (const auto& [mt, nt, kt] : shapes)
    for (const auto& panels : {Panels{1, 1, 1}, {5, 1, 2}, {5, 1, 4}, {5, 1, 100}, {1, nt, nt}}) {
      check(Shape{mt, nt, kt}, panel_order(mt, nt, kt, panels, {}));
      for (const auto& grid : {OwnerGrid{1, 1}, {1, 2}, {1, 3}, {2, 1}})
        check(Shape{mt, nt, kt}, panel_order(mt, nt, kt, panels, {grid, mt, nt, Part::All}));
    }
}

TEST(PanelOrder, HasEveryTermOnce) {
  for_all_orders([](const Shape& shape, const std::vector<Step>& steps) {
    std::set<std::tuple<Index, Index, Index>> seen;
    for (const auto& step : steps) {
      EXPECT_TRUE(step.i >= 0 && step.i < shape.mt && step.j >= 0 && step.j < shape.nt);
      EXPECT_TRUE(step.k >= 0 && step.k < shape.kt);
      EXPECT_TRUE(seen.emplace(step.i, step.j, step.k).second) << "twice";
    }
    EXPECT_EQ(std::ssize(seen), shape.mt * shape.nt * shape.kt);
  });
}

TEST(PanelOrder, CountsTheTermsOfEachTileInOrder) {
  for_all_orders([](const Shape&, const std::vector<Step>& steps) {
    std::map<std::pair<Index, Index>, Index> terms;
    for (const auto& step : steps) EXPECT_EQ(step.term, (terms[{step.i, step.j}]++));
  });
}

/// GPUs that own rows start with one row each.
TEST(PanelOrder, BeginsWithARowForEachGpu) {
  const auto steps = panel_order(4, 2, 2, {2, 1, 2}, {{2, 1}, 4, 2, Part::All});
  for (std::size_t s = 0; s < 8; s++) EXPECT_LT(steps[s].i, 2) << s;
  for (std::size_t s = 8; s < steps.size(); s++) EXPECT_GE(steps[s].i, 2) << s;
}

/// With four panels ahead and eight chunks of A, each two chunks bring one more panel.
TEST(PanelOrder, BeginsTheFirstPanelsWhileAArrives) {
  const auto steps = panel_order(1, 8, 8, {8, 1, 4}, {{1, 1}, 1, 8, Part::All});
  std::vector<std::pair<Index, Index>> first_uses;  // B by its panel, A by its chunk, as (0, j) and (1, k)
  std::set<std::pair<Index, Index>> seen;
  for (const auto& step : steps)
    for (const auto& use : {std::pair<Index, Index>{1, step.k}, {0, step.j}})
      if (seen.insert(use).second) first_uses.push_back(use);
  const std::vector<std::pair<Index, Index>> expected{{1, 0}, {0, 0}, {1, 1}, {1, 2}, {0, 1}, {1, 3}, {1, 4}, {0, 2},
                                                      {1, 5}, {1, 6}, {0, 3}, {1, 7}, {0, 4}, {0, 5}, {0, 6}, {0, 7}};
  EXPECT_EQ(first_uses, expected);
}

TEST(PanelOrder, CompletesOnePanelAfterAnother) {
  const auto steps = panel_order(1, 8, 4, {4, 1, 2}, {{1, 1}, 1, 8, Part::All});
  for (std::size_t s = 2 * 4; s < steps.size(); s++) EXPECT_EQ(steps[s].j, static_cast<Index>(s / 4)) << s;
}

/// If all of C uses the same tile of B, each chunk of A is used for all of C before the next.
TEST(PanelOrder, UsesEachChunkForAllOfCIfBIsShared) {
  const auto steps = panel_order(1, 8, 4, {1, 8, 8}, {{1, 1}, 1, 8, Part::All});
  for (std::size_t s = 0; s < steps.size(); s++) EXPECT_EQ(steps[s].k, static_cast<Index>(s / 8)) << s;
}

/// With several tiles of rows, the first r² tiles are the first r rows and columns.
TEST(PanelOrder, GrowsAsASquare) {
  const auto steps = panel_order(5, 5, 1, {1, 1, 1}, {{1, 1}, 5, 5, Part::All});
  for (Index r = 1; r <= 5; r++)
    for (std::size_t s = 0; s < static_cast<std::size_t>(r * r); s++)
      EXPECT_TRUE(steps[s].i < r && steps[s].j < r) << s;
}

}  // namespace
}  // namespace tessera::test::panel_order_cpp
