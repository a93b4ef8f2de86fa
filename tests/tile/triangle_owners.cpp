// SPDX-License-Identifier: BSD-3-Clause
// Which GPU loads which panel of a triangle.
#include "tile/triangle_owners.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace tessera::test::triangle_owners_cpp {
namespace {

using ::testing::ElementsAre;
using tile::TriangleOwners;

std::vector<int> owners(const TriangleOwners& triangle, Index panels) {
  std::vector<int> all;
  for (Index panel = 0; panel < panels; panel++) all.push_back(triangle.of(panel));
  return all;
}

/// The number of elements loaded by the GPU that loads the most.
Index largest_share(Uplo uplo, Index order, Index width, Index gpus) {
  const TriangleOwners triangle(uplo, order, width, gpus);
  std::vector<Index> loads(static_cast<std::size_t>(gpus));
  for (Index j = 0; j < order; j++)
    loads[static_cast<std::size_t>(triangle.of(j / width))] += uplo == Uplo::Lower ? order - j : j + 1;
  return *std::ranges::max_element(loads);
}

// Panels of a triangle of order 4 have 4, 3, 2 and 1 elements.
TEST(TriangleOwners, LoadTheSame) {
  EXPECT_THAT(owners({Uplo::Lower, 4, 1, 2}, 4), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(owners({Uplo::Upper, 4, 1, 2}, 4), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(largest_share(Uplo::Lower, 4, 1, 2), 5);
  EXPECT_THAT(owners({Uplo::Lower, 4, 1, 1}, 4), ElementsAre(0, 0, 0, 0));
}

// The panels of order 7 and width 3 have 18, 9 and 1 elements; the last is narrow.
TEST(TriangleOwners, KnowThatTheLastPanelIsNarrow) {
  EXPECT_THAT(owners({Uplo::Lower, 7, 3, 2}, 3), ElementsAre(0, 1, 1));
  EXPECT_EQ(largest_share(Uplo::Lower, 7, 3, 2), 18);
  EXPECT_THAT(owners({Uplo::Upper, 7, 3, 2}, 3), ElementsAre(1, 0, 1));  // 6, 15, 7
  EXPECT_EQ(largest_share(Uplo::Upper, 7, 3, 2), 15);
}

TEST(TriangleOwners, LoadTheWholeTriangleWhateverTheNumberOfGpus) {
  for (const auto uplo : {Uplo::Lower, Uplo::Upper})
    for (const Index gpus : {1, 2, 3, 4})
      for (const Index order : {1, 64, 1000, 4096}) {
        const Index all = order * (order + 1) / 2, share = largest_share(uplo, order, 100, gpus);
        EXPECT_GE(share * gpus, all);
        EXPECT_LE(share, all / gpus + 100 * order);
      }
}

}  // namespace
}  // namespace tessera::test::triangle_owners_cpp
