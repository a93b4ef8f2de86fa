// SPDX-License-Identifier: BSD-3-Clause
// Bytes that simulated calls copy: if the operands fit, each is copied once.
#include "laboratory.hpp"

namespace tessera::test {
namespace {

/// Bytes from the host, relative to the minimum.
double from_host(const std::string& arguments) {
  const auto row = row_of("--platform h200x4 --type d " + arguments);
  return row.at("bytes_h2d").get<double>() / row.at("bytes_min_h2d").get<double>();
}

// Products in panels: B has one tile of several chunks, or is shared by all of C. With nine panels, two GPUs have
// unequal shares.
TEST(Traffic, OfPanelsIsMinimal) {
  for (const std::string gpus : {"1", "2"})
    for (const std::string columns : {"4096", "4608"})
      for (const std::string op : {"n", "t"})
        for (const std::string beta : {"0", "0.3"}) {
          if (gpus == "2" && op == "t" && beta == "0") continue;  // in tiles
          const auto call =
              "--m 4096 --n " + columns + " --k 4096 --gpus " + gpus + " --trans-b " + op + " --beta " + beta;
          EXPECT_EQ(row_of("--platform h200x4 --type d " + call).at("tile"), 4096) << call;
          EXPECT_LE(from_host(call), 1.001) << call;
        }
}

// Without β, tiles on the diagonal are not read, and copies back to the host write only the triangle.
TEST(Traffic, OfUpdatesWithoutBetaHasNoC) {
  for (const std::string routine : {"syrk", "syr2k"})
    for (const std::string uplo : {"l", "u"}) {
      const auto call = "--routine " + routine + " --uplo " + uplo + " --size 8192 --gpus 1 --beta 0";
      EXPECT_LE(from_host(call), 1.001) << call;
    }
}

// A triangle is copied once. Tiles on the diagonal are copied almost completely.
TEST(Traffic, OfFactorizationsIsTheTriangle) {
  for (const std::string uplo : {"l", "u"}) {
    EXPECT_LE(from_host("--routine potrf --uplo " + uplo + " --size 16384 --gpus 1"), 1.05);
    EXPECT_LE(from_host("--routine potrf --uplo " + uplo + " --size 16384 --gpus 2"), 1.15);
  }
}

// Without pivoting, a whole matrix is copied once, too.
TEST(Traffic, OfLuWithoutPivotingIsTheMatrix) {
  for (const std::string gpus : {"1", "2"})
    EXPECT_LE(from_host("--routine getrf_nopiv --size 16384 --gpus " + gpus), 1.001) << gpus;
}

}  // namespace
}  // namespace tessera::test
