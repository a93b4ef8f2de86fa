// SPDX-License-Identifier: BSD-3-Clause
// The same call gives bitwise the same result, in whatever order its tasks run.
#include "support/reference.hpp"
#include "support/runtime.hpp"
#include "support/tiling.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;
const auto* const runtime = share_runtime(with_tile(tile));

constexpr Extent size{4 * tile + 5, 5 * tile + 3, 4 * tile + 1};
constexpr std::array<Extent, 3> cuts{{{5, 7, 4}, {16, 16, 16}, {9, 9, 40}}};

class Repeatable : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, Repeatable, each_routine(), its_name);

TEST_P(Repeatable, OnPointers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      const auto before = random_call_with_factors(routine, options, size, 5);
      auto first = before;
      on_pointers(first);
      for (int repeat = 0; repeat < 3; repeat++) {
        auto again = before;
        on_pointers(again);
        ASSERT_TRUE(again.C == first.C) << before;
      }
    });
  });
}

TEST_P(Repeatable, OnMatrices) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& cut : cuts)
      for_all_options(routine, [&](const Options& options) {
        const auto before = random_call_with_factors(routine, options, size, 5);
        const auto first = on_matrices(before, {cut});
        for (int repeat = 0; repeat < 3; repeat++)
          ASSERT_TRUE(on_matrices(before, {cut}).C == first.C) << before << ", " << Tiling{cut};
      });
  });
}

// A result of one tile with a long sum, which several workers may share.
TEST_P(Repeatable, OnPointersWithALongSum) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto before = random_call(routine, {}, {tile - 1, tile - 2, 900}, 5, T(1), T(Real<T>(-0.5)));
    auto first = before;
    on_pointers(first);
    for (int repeat = 0; repeat < 20; repeat++) {
      auto again = before;
      on_pointers(again);
      ASSERT_TRUE(again.C == first.C) << before;
    }
  });
}

}  // namespace
}  // namespace tessera::test
