// SPDX-License-Identifier: BSD-3-Clause
// Products in slices, as in the paper of Itu et al., on the machine that the paper describes.
#include "laboratory.hpp"

namespace tessera::test {
namespace {

const std::string sliced_product = "--platform gtx-260 --type s --beta 0 --size 2048 ";

struct Measured {
  int slices;
  double seconds;  ///< in the paper
};

TEST(Slices, TakeAsLongAsInThePaper) {
  for (const auto& [slices, seconds] : {Measured{1, 94.32e-3}, {2, 92.62e-3}, {4, 91.28e-3}}) {
    const auto row = row_of(sliced_product + "--cpus 0 --slices " + std::to_string(slices));
    EXPECT_NEAR(row.at("median_s"), seconds, 0.05 * seconds) << slices;
    EXPECT_EQ(row.at("scheduling").at("tasks"), slices * slices);
    EXPECT_EQ(row.at("bytes_h2d"), 2 * 4.0 * 2048 * 2048) << slices;  // each slice of A and B is copied once
  }
}

TEST(Slices, OfUnequalHeightsCoverTheMatrix) {
  const auto row = row_of(sliced_product + "--slices 3");
  EXPECT_EQ(row.at("scheduling").at("tasks"), 9);
  EXPECT_EQ(row.at("bytes_d2h"), 4.0 * 2048 * 2048);
}

TEST(Slices, AreForPlainProducts) {
  for (const char* arguments : {"--routine trsm", "--tile 256", "--trans-a t", "--beside 256"}) {
    const auto ended = simulate("--platform gtx-260 --size 2048 --slices 2 " + std::string(arguments));
    EXPECT_EQ(ended.status, 2) << arguments;
    EXPECT_THAT(ended.err, ::testing::HasSubstr("--slices")) << arguments;
  }
}

}  // namespace
}  // namespace tessera::test
