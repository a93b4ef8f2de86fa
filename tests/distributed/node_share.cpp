// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/node_share.hpp"

#include "support/environment.hpp"
#include "whole.hpp"

namespace tessera::test {

namespace {

using distributed::ShareOfNode;

/// The share of a process that sees these GPUs. Collective.
RuntimeOptions share_with(const std::string& visible_gpus) {
  const Environment visible{{"CUDA_VISIBLE_DEVICES", visible_gpus.c_str()}};
  return with_share({}, ShareOfNode(grid().comm()));
}

TEST(ShareOfNode, DividesGpusThatAllSee) {
  const auto g = grid();
  const auto options = share_with("0,1");
  EXPECT_EQ(options.node_part, g.rank());
  EXPECT_EQ(options.node_parts, g.p() * g.q());
}

TEST(ShareOfNode, LeavesEachProcessItsOwnGpu) {
  const auto options = share_with(std::to_string(grid().rank()));
  EXPECT_EQ(options.node_part, 0);
  EXPECT_EQ(options.node_parts, 1);
}

}  // namespace

}  // namespace tessera::test
