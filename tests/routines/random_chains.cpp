// SPDX-License-Identifier: BSD-3-Clause
// Random programs of routines with random options in random order. Results must equal those of the host BLAS exactly.
#include <iostream>

#include "support/operands.hpp"
#include "support/random_cases.hpp"
#include "support/random_program.hpp"
#include "support/reference.hpp"
#include "support/row_major.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime(with_tile(9));

template <Scalar T>
class RandomChains : public ::testing::Test {
 protected:
  /// Calls `chain(seed, counts)` with all seeds. Expects that every routine occurs at least once in `chains_for_each`.
  template <typename Chain>
  static void for_all_seeds(Index chains_for_each, Chain chain) {
    const auto [first, cases] = random_cases();
    std::cout << "seeds " << first << " to " << first + cases - 1 << ':';
    Counts counts;
    for (Index seed = first; seed < first + cases; seed++) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      chain(static_cast<std::uint64_t>(seed), counts);
      if (::testing::Test::HasFatalFailure()) return;
    }
    for (const auto& routine : routines<T>()) {
      std::cout << ' ' << routine.name << ' ' << counts[routine.name];
      EXPECT_GE(counts[routine.name], cases / chains_for_each) << routine.name;
    }
    std::cout << '\n';
  }
};
TYPED_TEST_SUITE(RandomChains, ScalarTypes);

TYPED_TEST(RandomChains, OfMatricesAreExact) {
  constexpr int steps = 40;
  const auto run = [](std::uint64_t seed, int length, Counts& counts) {
    RandomProgram<TypeParam> program(seed);
    for (int step = 0; step < length; step++) program.step(counts);
    return program.finish();
  };
  this->for_all_seeds(10, [&](std::uint64_t seed, Counts& counts) {
    const auto exact = run(seed, steps, counts);
    for (int fewer = 1; !exact && fewer <= steps; fewer++)
      ASSERT_TRUE(run(seed, fewer, counts)) << "the shortest program that is wrong";
    ASSERT_TRUE(exact);
  });
}

TYPED_TEST(RandomChains, OfPointersAreExact) {
  using T = TypeParam;
  this->for_all_seeds(40, [](std::uint64_t seed, Counts& counts) {
    Random random(seed);
    const auto& routine = random.one_of(routines<T>());
    const auto options = random_options(routine, random);
    const Extent size{random.integer(0, 40), random.integer(0, 40), random.integer(0, 40)};
    const auto factor = [&] { return T(static_cast<Real<T>>(random.integer(-2, 2))); };
    const T alpha = factor(), beta = factor();
    const auto before = integer_call<T>(routine, options, size, seed, alpha, beta);
    auto after = before;
    if (random.coin()) on_pointers(after);
    else in_row_major(after);
    ASSERT_TRUE(result_is_that_of_the_host(before, after));
    count(after, counts);
  });
}

}  // namespace
}  // namespace tessera::test
