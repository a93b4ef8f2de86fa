// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tile/extents.hpp"

namespace tessera::plan {

/// A candidate for a plan, and the result of its rehearsal. Used to explain the choice.
struct Considered {
  tile::TileExtents tile;  ///< as in algorithms::Plan
  bool panels = false;     ///< whether the call is in tall panels
  int gpus = 1;            ///< number of GPUs that take part
  int cores = 0;           ///< number of cores that compute a part, or without GPUs everything
  double seconds = 0;      ///< predicted time of the call
  std::string bound;       ///< the bottleneck of the call
  double share = 0;        ///< the time that the bottleneck takes, as a fraction of `seconds`
};

}  // namespace tessera::plan
