// SPDX-License-Identifier: BSD-3-Clause
// The routines on Matrix<T>, with different tiles and views of inputs and outputs.
#include "support/argument.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"
#include "support/views.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

/// Tile sizes of m, n and k without a common divisor, so tiles are rectangular where the routine allows it.
constexpr Extent cut{5, 7, 4};

/// Sizes of a dimension: 1, a tile, a tile and one more, and two tiles and a ragged one.
constexpr std::array<Index, 4> in_tiles_of(Index tile) { return {1, tile, tile + 1, 2 * tile + 3}; }
constexpr Extent ragged{2 * 5 + 3, 2 * 7 + 3, 2 * 4 + 3}, full{2 * 5, 2 * 7, 3 * 4};

/// All combinations of views of the operands.
template <Scalar T>
std::vector<Tiling> all_views(const Routine<T>& routine) {
  std::vector<Tiling> list;
  for (const Op a : all_ops)
    for (const Op b : all_ops)
      for (const Op c : all_ops)
        if (routine.has_b() || b == Op::NoTrans) list.push_back({cut, a, b, c});
  return list;
}

template <Scalar T>
std::vector<Tiling> computable_views(const Routine<T>& routine, const Options& options) {
  auto list = all_views(routine);
  std::erase_if(list, [&](const Tiling& tiling) { return !is_computable(routine, options, tiling); });
  return list;
}

class OnMatrices : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, OnMatrices, each_routine(), its_name);

TEST_P(OnMatrices, IsRightForAllOptionsAndTiles) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;  // also selects leading dimensions, factors, views and ranges
    for_all_options(routine, [&](const Options& options) {
      const auto views = computable_views(routine, options);
      for (const Index m : in_tiles_of(cut.m))
        for (const Index n : in_tiles_of(cut.n))
          for (const Index k : in_tiles_of(cut.k)) {
            if ((!routine.has("m") && m > 1) || (!routine.has("k") && k > 1)) continue;
            seed++;
            const auto before = random_call_with_factors(routine, options, {m, n, k}, seed);
            auto tiling = views[seed % views.size()];
            tiling.ranges = seed % 3 == 0;
            ASSERT_TRUE(result_is_right(before, on_matrices(before, tiling))) << tiling << ", seed " << seed;
          }
    });
  });
}

TEST_P(OnMatrices, TakesAllViewsThatTheBlasCanCompute) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for (const auto& tiling : computable_views(routine, options)) {
        const auto before = integer_call_with_factors(routine, options, ragged, ++seed);
        ASSERT_TRUE(result_is_that_of_the_host(before, on_matrices(before, tiling))) << tiling;
      }
    });
  });
}

TEST_P(OnMatrices, RefusesAllOtherViews) {
  run([]<Scalar T>(const Routine<T>& routine) {
    int refused = 0;
    for_all_options(routine, [&](const Options& options) {
      for (const auto& tiling : all_views(routine)) {
        if (is_computable(routine, options, tiling)) continue;
        refused++;
        const auto before = integer_call(routine, options, ragged, 1);
        TiledCall<T> tiles(before, tiling);
        expect_refused<ArgumentError>([&] { tiles.submit(); }, routine.name, arguments_on_matrices(routine),
                                      {"A", "B", "C"}, "");
        ASSERT_FALSE(::testing::Test::HasFailure()) << before << ", " << tiling;
        ASSERT_TRUE(tiles.written_back().C == before.C) << before << ", " << tiling;
      }
    });
    const bool has_transposes_to_agree = routine.has_b() && (routine.has("side") || routine.has("op"));
    EXPECT_EQ(refused > 0, is_complex<T> || has_transposes_to_agree);
  });
}

TEST_P(OnMatrices, TakesRangesOfTilesAsInputsAndOutputs) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const auto views = computable_views(routine, options);
      for (const auto& size : {ragged, full}) {
        seed++;
        const auto before = integer_call_with_factors(routine, options, size, seed);
        auto tiling = views[seed % views.size()];
        tiling.ranges = true;
        ASSERT_TRUE(result_is_that_of_the_host(before, on_matrices(before, tiling))) << tiling;
      }
    });
  });
}

class TriangleOnMatrices : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, TriangleOnMatrices, each_routine([](const auto& r) { return r.c != Structure::General; }),
                         its_name);

TEST_P(TriangleOnMatrices, MayHaveTilesThatAreHigherThanWide) {
  struct Shape {
    Index rows, across;  // rows of a tile, and the ratio of its rows to its columns
  };
  run([]<Scalar T>(const Routine<T>& routine) {
    Random random(1);
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const auto views = computable_views(routine, options);
      for (const Index n : {1, 7, 8, 9, 19, 24})
        for (const auto& [rows, across] :
             {Shape{8, 2}, {8, 4}, {8, 8}, {25, 3}}) {  // the last has a single tile row, which allows any width
          seed++;
          auto tiling = random.one_of(views);
          tiling.cut = {rows, rows, 4}, tiling.across = across, tiling.ranges = random.integer(0, 2) == 0;
          const auto before = integer_call_with_factors(routine, options, {n, n, 7}, seed);
          ASSERT_TRUE(result_is_that_of_the_host(before, on_matrices(before, tiling))) << tiling << ", seed " << seed;
          const auto other = random_call_with_factors(routine, options, {n, n, 7}, seed);
          ASSERT_TRUE(result_is_right(other, on_matrices(other, tiling))) << tiling << ", seed " << seed;
        }
    });
  });
}

TEST_P(OnMatrices, TileLargerThanTheMatrixIsOneTile) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      const auto before = integer_call_with_factors(routine, options, ragged, 1);
      ASSERT_TRUE(result_is_that_of_the_host(before, on_matrices(before, {{100, 200, 300}})));
      const auto one_tile = on_matrices(before, {ragged});
      ASSERT_TRUE(result_is_that_of_the_host(before, one_tile));
    });
  });
}

TEST_P(OnMatrices, TilesMatchIfTheirBoundariesMatch) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto before = integer_call_with_factors(routine, {}, ragged, 1);
    TiledCall<T> tiles(before, {ragged}), larger_tiles(before, {{100, 200, 300}});
    auto mixed = tiles.arguments();
    mixed.A = larger_tiles.arguments().A;
    routine.on_matrices(mixed);
    EXPECT_TRUE(result_is_that_of_the_host(before, tiles.written_back()));
  });
}

TEST_P(OnMatrices, ChoosesTilesThatFitTogether) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto before = integer_call_with_factors(routine, {}, {400, 370, 330}, 1);
    EXPECT_TRUE(result_is_that_of_the_host(before, on_matrices(before, {})));
  });
}

TEST_P(OnMatrices, EmptyDimensionsDoWhatBlasSays) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for_all_sizes(routine, {0, 6}, [&](const Extent& size) {
        const auto before = integer_call_with_factors(routine, options, size, ++seed);
        ASSERT_TRUE(result_is_right(before, on_matrices(before, {cut})));
      });
    });
  });
}

}  // namespace
}  // namespace tessera::test
