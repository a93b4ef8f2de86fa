// SPDX-License-Identifier: BSD-3-Clause
// Random programs that mix factorizations and solves with products, without waits. Results must be exact.
#include "support/random_solves.hpp"

#include "support/random_cases.hpp"

namespace tessera::test {
namespace {

template <typename T>
class RandomSolvesTest : public ::testing::Test {};
TYPED_TEST_SUITE(RandomSolvesTest, ScalarTypes);

TYPED_TEST(RandomSolvesTest, AreExact) {
  constexpr int steps = 40;
  std::map<std::string, Index> counts;
  const auto run = [&](std::uint64_t seed, int length) {
    RandomSolves<TypeParam> program(seed);
    for (int step = 0; step < length; step++) program.step(counts);
    return program.finish();
  };
  const auto [first, cases] = random_cases(10);
  for (Index seed = first; seed < first + cases; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto exact = run(static_cast<std::uint64_t>(seed), steps);
    for (int fewer = 1; !exact && fewer <= steps; fewer++)
      ASSERT_TRUE(run(static_cast<std::uint64_t>(seed), fewer)) << "the shortest program that is wrong";
    ASSERT_TRUE(exact);
  }
  for (const char* routine : {"potrf", "potrs", "getrf", "getrs", "getrf_nopiv", "getrs_nopiv"}) {
    std::cout << routine << ' ' << counts[routine] << ' ';
    EXPECT_GE(counts[routine], cases / 2) << routine;
  }
  std::cout << '\n';
}

}  // namespace
}  // namespace tessera::test
