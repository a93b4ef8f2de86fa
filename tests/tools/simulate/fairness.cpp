// SPDX-License-Identifier: BSD-3-Clause
// Calls that run at the same time share the GPUs.
#include "laboratory.hpp"

namespace tessera::test {
namespace {

/// @param others  "--beside N": an endless loop of calls
double seconds_beside(const std::string& call, const std::string& others) {
  return row_of("--platform h200x4 --brief " + call + " " + others).at("median_s").get<double>();
}

TEST(Fairness, ALongCallGetsHalfOfTheGpus) {
  const double alone = seconds_beside("--size 32768", ""), together = seconds_beside("--size 32768", "--beside 16384");
  EXPECT_GT(together, 1.2 * alone) << "they do run at the same time";
  EXPECT_LT(together, 2 * alone);
}

}  // namespace
}  // namespace tessera::test
