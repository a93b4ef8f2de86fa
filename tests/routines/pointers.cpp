// SPDX-License-Identifier: BSD-3-Clause
// The routines on pointers: correct results for all options, for sizes around tile boundaries, in both layouts.
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/row_major.hpp"
#include "support/runtime.hpp"
#include "tile/split.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;
const auto* const runtime = share_runtime(with_tile(tile));

/// Sizes: 0, 1, around one tile, and two tiles and a ragged one.
const std::vector<Index> sizes{0, 1, tile - 1, tile, tile + 1, 2 * tile + 5};

/// Shapes of several tiles in each dimension, for tests that do not vary the shape.
constexpr Extent few_tiles{tile + 3, 2 * tile + 1, tile + 2}, many_tiles{5 * tile + 5, 6 * tile + 3, 5 * tile + 1};

class OnPointers : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, OnPointers, each_routine(), its_name);

TEST_P(OnPointers, IsRightForAllOptionsAndSizes) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;  // also selects leading dimensions and factors
    for_all_options(routine, [&](const Options& options) {
      for_all_sizes(routine, sizes, [&](const Extent& size) {
        const auto before = random_call_with_factors(routine, options, size, ++seed);
        auto after = before;
        on_pointers(after);
        ASSERT_TRUE(result_is_right(before, after)) << "seed " << seed;
      });
    });
  });
}

TEST_P(OnPointers, IsRightForAllFactors) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for (const T alpha : alphas(routine))
        for (const T beta : betas(routine)) {
          const auto before = random_call(routine, options, few_tiles, ++seed, alpha, beta);
          auto after = before;
          on_pointers(after);
          ASSERT_TRUE(result_is_right(before, after)) << "seed " << seed;
        }
    });
  });
}

TEST_P(OnPointers, IsRightInRowMajor) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for_all_sizes(routine, {0, 1, tile + 1, 2 * tile + 5}, [&](const Extent& size) {
        const auto before = random_call_with_factors(routine, options, size, ++seed);
        auto after = before;
        in_row_major(after);
        ASSERT_TRUE(result_is_right(before, after)) << "seed " << seed;
      });
    });
  });
}

TEST_P(OnPointers, IsTheSameWithALayoutOfColumns) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      const auto before = random_call(routine, options, few_tiles, 1);
      auto without = before, with = before;
      on_pointers(without);
      routine.with_layout(Layout::ColMajor, with.arguments());
      ASSERT_TRUE(with.C == without.C) << before;
    });
  });
}

TEST_P(OnPointers, IsExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const auto before = integer_call_with_factors(routine, options, many_tiles, ++seed);
      auto by_columns = before, row_major = before;
      on_pointers(by_columns);
      ASSERT_TRUE(result_is_that_of_the_host(before, by_columns));
      in_row_major(row_major);
      ASSERT_TRUE(result_is_that_of_the_host(before, row_major)) << "row-major";
    });
  });
}

/// Each computed tile of the output has a task for each term of its sum, and at most one more: for β, or for the
/// inverse of a block of A.
TEST_P(OnPointers, IsCutIntoTheTilesAskedFor) {
  run([]<Scalar T>(const Routine<T>& routine) {
    auto call = random_call(routine, {}, few_tiles, 1);
    const auto before = statistics().tasks;
    on_pointers(call);
    const auto tiles_along = [](Index extent) { return tile::divide_up(extent, tile); };
    const auto [rows, columns] = routine.size_c({}, few_tiles);
    const Index all = tiles_along(rows) * tiles_along(columns),
                triangle = tiles_along(rows) * (tiles_along(rows) + 1) / 2;
    const Index computed = routine.c == Structure::General ? all : triangle;
    const Index products = routine.has("k") && routine.has_b() && routine.name != "gemm" ? 2 : 1,  // syr2k, her2k
        terms = products * tiles_along(routine.has("k") ? few_tiles.k : few_tiles.m);
    const auto tasks = static_cast<Index>(statistics().tasks - before);
    EXPECT_GE(tasks, routine.a == Structure::Triangular ? computed : computed * terms / products);
    EXPECT_LE(tasks, computed * (terms + 1));
  });
}

class OnPointersWithTwoInputs : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, OnPointersWithTwoInputs, each_routine([](const auto& r) { return r.has_b(); }), its_name);

TEST_P(OnPointersWithTwoInputs, TakesTheSameOneTwice) {
  run([]<Scalar T>(const Routine<T>& routine) {
    constexpr Extent square{tile + 3, tile + 3, tile + 3};
    for_all_options(routine, [&](const Options& options) {
      auto before = random_call(routine, options, square, 4);
      before.A = before.B;
      auto after = before;
      auto arguments = after.arguments();
      arguments.B = arguments.A;
      arguments.ldb = arguments.lda;
      routine.on_pointers(arguments);
      ASSERT_TRUE(result_is_right(before, after));
    });
  });
}

}  // namespace
}  // namespace tessera::test
