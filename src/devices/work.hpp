// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "common/float_mode.hpp"

namespace tessera::device {

/// For a memory-bound operation, the number of times it reads or writes its tile; 0 for all others.
inline int passes(std::string_view operation) {
  return operation == "add"                                  ? 3
         : operation == "scale" || operation == "symmetrize" ? 2
         : operation == "inspect" || operation == "growth"   ? 1
                                                             : 0;
}

/// The amount of work of a task, for the performance model: the first member of the arguments of every tile operation.
struct Work {
  double flops;  ///< real floating-point operations
  char type;     ///< s, d, c or z
  // What also determines the time of some operations:
  double rows = 0, columns = 0;  ///< size of the panel that the task factorizes; 0: none
  double beside = 0;             ///< flops of concurrent products, included in `flops`
  double moved = 0;              ///< elements that the task writes to other rows
  double order = 0;              ///< of the triangle by which the task multiplies or divides; 0: none
  /// The floating-point mode for CPU workers, taken from the thread that called the routine.
  common::float_mode::Bits mode = common::float_mode::usual;
};

}  // namespace tessera::device
