// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "codelets/codelet.hpp"
#include "cost_curve.hpp"

namespace tessera::detail {

class Session;

/// What Tessera knows of this machine when it chooses tiles and predicts costs, for one type.
struct MachineRates {
  CostCurve cpu;    ///< one core
  CostCurve gpu;    ///< one GPU; empty where there is none
  double link = 0;  ///< host to one GPU [bytes/s]
  CostCurve
      column;  ///< copying one column of a tile between host and GPU while that computes; empty: as fast as `link`
};

/// Measures the first GPU, for all types, unless that is known: from this process, or from Tessera's cache. To be
/// called while nothing of ours runs on it. Takes about half a second.
/// @throws RuntimeError if the GPU has no room for it
void measure_gpu_rates(const Session& session);

/// The GPU's as measured at the start of the session. The CPU's without GPUs are measured at the first call for each
/// type: a few milliseconds. Of a simulated machine they are what its description says.
template <Scalar T>
const MachineRates& machine_rates(const Session& session);

/// For the performance models of the codelets: from the rates of the type, 0 if they have not been measured. A
/// simulated machine has rates for each operation and for each of its GPUs.
double expected_seconds(const char* operation, const codelets::Work& work, int worker);

}  // namespace tessera::detail
