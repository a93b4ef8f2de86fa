// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sweep.hpp"

namespace tessera::unroll {

/// X ← factor A⁻¹ X. Row s is solved after the solutions of all rows before it have been subtracted. No task waits for
/// a whole row: each tile starts its sum with the solutions that are available.
template <Scalar T>
void solve(Sweep<T>& sweep, T factor) {
  for (const auto group : sweep.groups())
    for (Index s = 0; s < sweep.rows(); s++) {
      for (Index x = 0; x < s; x++)
        for (Index j = group.begin; j < group.end; j++)
          sweep.product(s, sweep.term(j, x, s), j, T(-1), x == 0 ? factor : T(1));
      sweep.diagonal(s, s == 0 ? factor : T(1), group);
    }
}

}  // namespace tessera::unroll
