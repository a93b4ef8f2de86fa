// SPDX-License-Identifier: BSD-3-Clause
// How many tiles the cores get when there are GPUs as well.
#include "tiling/core_share.hpp"

#include <gtest/gtest.h>

namespace tessera::test::core_share_cpp {
namespace {

using detail::cores_are_worth_it;
using detail::CostCurve;
using detail::MachineModel;
using detail::MachineRates;
using detail::relative_rate_of_cores;
using detail::share_of_cores;

/// A machine whose cores and GPUs have a rate in flop/s.
MachineRates rates(double core, double gpu) {
  MachineRates rates;
  rates.cpu = CostCurve({{1e9, 1e9 / core}}), rates.gpu = CostCurve({{1e9, 1e9 / gpu}});
  return rates;
}

MachineModel machine_with(int cores) {
  MachineModel machine;
  machine.gpus = 1, machine.sharing_cores = cores;
  return machine;
}

TEST(CoreShare, RateIsThatOfAllCoresOverThatOfAllGpus) {
  EXPECT_DOUBLE_EQ(relative_rate_of_cores(rates(60e9, 1.2e12), 16, 1), 0.8);
  EXPECT_DOUBLE_EQ(relative_rate_of_cores(rates(60e9, 1.2e12), 16, 4), 0.2);
  auto unlike = rates(60e9, 1.2e12);
  unlike.others = 0.5;
  EXPECT_DOUBLE_EQ(relative_rate_of_cores(unlike, 16, 4), 0.4);
}

// One CUDA GPU with 4 TFLOP/s, and three OpenCL devices with 1.
TEST(CoreShare, MeanRateIsThatOfAllKinds) {
  auto both = rates(60e9, 4e12);
  both.opencl = rates(0, 1e12).gpu;
  EXPECT_DOUBLE_EQ(detail::mean_rate(both, 1, 3), (4.0 + 3 * 1) / 4 / 4);
  EXPECT_DOUBLE_EQ(detail::mean_rate(both, 2, 0), 1);
  EXPECT_DOUBLE_EQ(detail::mean_rate(both, 0, 2), 1);
}

TEST(CoreShare, CoresNeedThreePercent) {
  EXPECT_TRUE(cores_are_worth_it(rates(10e9, 1e12), 3, 1));
  EXPECT_FALSE(cores_are_worth_it(rates(9.9e9, 1e12), 3, 1));
  EXPECT_FALSE(cores_are_worth_it(rates(60e9, 60e12), 16, 1));  // an H100 and 16 cores
}

TEST(CoreShare, UnknownRatesAreNotWorthIt) {
  auto unknown = rates(60e9, 1e12);
  unknown.others = 0;
  EXPECT_FALSE(cores_are_worth_it(unknown, 16, 1));
  unknown = rates(60e9, 1e12), unknown.gpu = {};
  EXPECT_FALSE(cores_are_worth_it(unknown, 16, 1));
  EXPECT_FALSE(cores_are_worth_it(rates(60e9, 1e12), 16, 0));
}

// The GPU computes 100 tiles in 100 s. Each of four cores takes 10 s for a tile; the share assumes 11.
TEST(CoreShare, CoresEndBeforeGpus) {
  const auto share = share_of_cores(machine_with(4), 100, 100, 10);
  EXPECT_EQ(share.tiles, 4 * 6);  // 66 s on the cores; the GPU computes 76 tiles. With seven: 77 s, and 72 tiles
  EXPECT_DOUBLE_EQ(share.seconds, 76);
}

TEST(CoreShare, CoresMustSaveFivePercent) {
  EXPECT_TRUE(detail::Advantage{}.is_reached(1, 1.06));
  EXPECT_FALSE(detail::Advantage{}.is_reached(1, 1.04));
}

TEST(CoreShare, InColumnsCoresMustSaveTime) {
  const auto one = detail::least_advantage_in_columns(1), several = detail::least_advantage_in_columns(2);
  EXPECT_TRUE(one.is_reached(1, 1.06));
  EXPECT_FALSE(one.is_reached(0.4e-3, 0.49e-3));
  EXPECT_TRUE(one.is_reached(0.4e-3, 0.51e-3));
  EXPECT_FALSE(several.is_reached(1, 1.08));
  EXPECT_TRUE(several.is_reached(1, 1.12));
}

TEST(CoreShare, AllCoresHaveTheSameNumber) {
  for (Index tiles = 1; tiles < 100; tiles++)
    for (const double tile : {0.5, 3.0, 20.0}) {
      const auto share = share_of_cores(machine_with(7), static_cast<double>(tiles), tiles, tile);
      EXPECT_EQ(share.tiles % 7, 0) << tiles << " tiles of " << tile << " s";
      EXPECT_LT(share.tiles, tiles);
      EXPECT_LE(static_cast<double>(share.tiles) / 7 * tile, share.seconds);
    }
}

TEST(CoreShare, CoresThatWouldEndLastGetNothing) {
  EXPECT_EQ(share_of_cores(machine_with(4), 10, 100, 10).tiles, 0);
  EXPECT_EQ(share_of_cores(machine_with(4), 100, 4, 1).tiles, 0);
  EXPECT_EQ(share_of_cores(machine_with(0), 100, 100, 1).tiles, 0);
  EXPECT_DOUBLE_EQ(share_of_cores(machine_with(4), 10, 100, 10).seconds, 10);
}

// GPUs that are on average half as fast as the first one take twice as long.
TEST(CoreShare, SlowerOtherGpusLeaveMore) {
  auto machine = machine_with(4);
  machine.rates.others = 0.5;
  EXPECT_EQ(share_of_cores(machine, 100, 100, 10).tiles, 4 * 10);  // 110 s, and 2 s for each of the other 60 tiles
}

}  // namespace
}  // namespace tessera::test::core_share_cpp
