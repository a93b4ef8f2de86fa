// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/plan.hpp"
#include "machine.hpp"

namespace tessera::plan {

/// The smallest block for which the links can feed the GPUs, plus a margin. The margin shrinks if the GPUs can then
/// hold two copies of the block. If not even one copy fits with the margin, the block is the largest that fits once.
/// CPU workers need no blocks.
/// @param gpus  number of GPUs that take part
algorithms::Block choose_block(const Machine& model, int gpus, tile::TileExtents tile);

}  // namespace tessera::plan
