// SPDX-License-Identifier: BSD-3-Clause
// Which GPU loads which panel of a triangle.
#include "tile/triangle_owners.hpp"

#include <gmock/gmock.h>

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

// Panels of a triangle of order 4 have 4, 3, 2 and 1 elements.
TEST(TriangleOwners, LoadTheSame) {
  EXPECT_THAT(owners({Uplo::Lower, 4, 1, 2}, 4), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(owners({Uplo::Upper, 4, 1, 2}, 4), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(TriangleOwners(Uplo::Lower, 4, 1, 2).largest_share(), 5);
  EXPECT_THAT(owners({Uplo::Lower, 4, 1, 1}, 4), ElementsAre(0, 0, 0, 0));
}

// The panels of order 7 and width 3 have 18, 9 and 1 elements; the last is narrow.
TEST(TriangleOwners, KnowThatTheLastPanelIsNarrow) {
  EXPECT_THAT(owners({Uplo::Lower, 7, 3, 2}, 3), ElementsAre(0, 1, 1));
  EXPECT_EQ(TriangleOwners(Uplo::Lower, 7, 3, 2).largest_share(), 18);
  EXPECT_THAT(owners({Uplo::Upper, 7, 3, 2}, 3), ElementsAre(1, 0, 1));  // 6, 15, 7
  EXPECT_EQ(TriangleOwners(Uplo::Upper, 7, 3, 2).largest_share(), 15);
}

TEST(TriangleOwners, LoadTheWholeTriangleWhateverTheNumberOfGpus) {
  for (const auto uplo : {Uplo::Lower, Uplo::Upper})
    for (const Index gpus : {1, 2, 3, 4})
      for (const Index order : {1, 64, 1000, 4096}) {
        const double all = static_cast<double>(order) * static_cast<double>(order + 1) / 2;
        const TriangleOwners triangle(uplo, order, 100, gpus);
        EXPECT_GE(triangle.largest_share(), all / static_cast<double>(gpus));
        EXPECT_LE(triangle.largest_share(), all / static_cast<double>(gpus) + 100 * static_cast<double>(order));
      }
}

}  // namespace
}  // namespace tessera::test::triangle_owners_cpp
