// SPDX-License-Identifier: BSD-3-Clause
// The rate of all cores beside GPUs, and the time of a task.
#include "machine/machine_rates.hpp"

#include <gtest/gtest.h>

namespace tessera::test::core_rates_cpp {
namespace {

using device::CostCurve;
using machine::MachineRates;
using machine::relative_rate_of_cores;

/// A machine whose cores and GPUs have a rate in flop/s.
MachineRates rates(double core, double gpu) {
  MachineRates rates;
  rates.cpu = CostCurve({{1e9, 1e9 / core}}), rates.gpu = CostCurve({{1e9, 1e9 / gpu}});
  return rates;
}

TEST(CoreRates, RateIsThatOfAllCoresOverThatOfAllGpus) {
  EXPECT_DOUBLE_EQ(relative_rate_of_cores(rates(60e9, 1.2e12), 16, 1), 0.8);
  EXPECT_DOUBLE_EQ(relative_rate_of_cores(rates(60e9, 1.2e12), 16, 4), 0.2);
  auto unlike = rates(60e9, 1.2e12);
  unlike.others = 0.5;
  EXPECT_DOUBLE_EQ(relative_rate_of_cores(unlike, 16, 4), 0.4);
}

// One CUDA GPU with 4 TFLOP/s, and three OpenCL devices with 1.
TEST(CoreRates, MeanRateIsThatOfAllKinds) {
  auto both = rates(60e9, 4e12);
  both.opencl = rates(0, 1e12).gpu;
  EXPECT_DOUBLE_EQ(machine::mean_rate(both, 1, 3), (4.0 + 3 * 1) / 4 / 4);
  EXPECT_DOUBLE_EQ(machine::mean_rate(both, 2, 0), 1);
  EXPECT_DOUBLE_EQ(machine::mean_rate(both, 0, 2), 1);
}

TEST(CoreRates, UnknownRatesCountAsZero) {
  auto unknown = rates(60e9, 1e12);
  unknown.others = 0;
  EXPECT_EQ(relative_rate_of_cores(unknown, 16, 1), 0);
  unknown = rates(60e9, 1e12), unknown.gpu = {};
  EXPECT_EQ(relative_rate_of_cores(unknown, 16, 1), 0);
  EXPECT_EQ(relative_rate_of_cores(rates(60e9, 1e12), 16, 0), 0);
}

}  // namespace
}  // namespace tessera::test::core_rates_cpp
