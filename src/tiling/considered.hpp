// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "block.hpp"

namespace tessera::detail {

/// A candidate of a plan and its rehearsal, to explain the choice.
struct Considered {
  TileExtents tile;     ///< as in Plan
  bool panels = false;  ///< whether the call is in tall panels
  int gpus = 1;         ///< that take part
  double seconds = 0;   ///< predicted time of the call
  std::string bound;    ///< what the call needs longest for
  double share = 0;     ///< that time, as a part of `seconds`
};

}  // namespace tessera::detail
