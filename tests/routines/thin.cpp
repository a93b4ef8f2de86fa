// SPDX-License-Identifier: BSD-3-Clause
// Thin and flat operands: results of one tile with long sums, which several workers may share, and single rows and
// columns. Tiles are chosen by the library or given.
#include "support/reference.hpp"
#include "support/row_major.hpp"
#include "support/runtime.hpp"
#include "support/tiling.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

/// Rows, columns and terms for routines with an argument k; rows and columns for routines with a square A.
constexpr std::array<Extent, 5> with_terms{{{5, 5, 4000}, {6, 1, 3000}, {1, 70, 300}, {70, 1, 300}, {50, 60, 1}}};
constexpr std::array<Extent, 5> with_order{{{1, 150}, {150, 1}, {5, 120}, {120, 5}, {1, 1}}};
constexpr Tiling long_tiles{{8, 8, 500}}, flat_tiles{{100, 100, 100}},
    high_tiles{.cut = {8, 8, 500}, .across = 2};  // for a triangle

template <Scalar T>
const auto& cases(const Routine<T>& routine) {
  return routine.has("k") ? with_terms : with_order;
}

class Thin : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, Thin, each_routine(), its_name);

TEST_P(Thin, IsRightForAllOptionsAndBetas) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto alpha = alphas(routine);
    std::uint64_t seed = 0;  // also selects shapes and factors
    for_all_options(routine, [&](const Options& options) {
      for (const T beta : betas(routine)) {
        seed++;
        const auto before =
            random_call(routine, options, cases(routine)[seed % 5], seed, alpha[1 + seed % (alpha.size() - 1)], beta);
        auto after = before;
        on_pointers(after);
        ASSERT_TRUE(result_is_right(before, after)) << "seed " << seed;
      }
    });
  });
}

TEST_P(Thin, IsExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for (int shapes = 0; shapes < 3; shapes++) {
        seed++;
        const auto before = integer_call_with_factors(routine, options, cases(routine)[seed % 5], seed);
        auto columns = before, rows = before;
        on_pointers(columns);
        ASSERT_TRUE(result_is_that_of_the_host(before, columns));
        in_row_major(rows);
        ASSERT_TRUE(result_is_that_of_the_host(before, rows)) << "row-major";
        const auto& tiling = seed % 2 == 0 ? long_tiles : flat_tiles;
        ASSERT_TRUE(result_is_that_of_the_host(before, on_matrices(before, tiling))) << tiling;
        if (routine.c != Structure::General) {
          ASSERT_TRUE(result_is_that_of_the_host(before, on_matrices(before, high_tiles))) << high_tiles;
        }
      }
    });
  });
}

TEST_P(Thin, ScalesWhereThereIsNothingToAdd) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for (const T beta : betas(routine)) {
        const auto before = random_call(routine, options, cases(routine)[++seed % 5], 1, T(0), beta);
        auto after = before;
        on_pointers(after);
        ASSERT_TRUE(result_is_right(before, after));
      }
    });
  });
}

}  // namespace
}  // namespace tessera::test
