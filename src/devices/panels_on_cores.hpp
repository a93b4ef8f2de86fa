// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::device::gpu {

/// The rate at which cores factorize panels that GPUs leave to them although they have code for it, in double precision
/// [flop/s]; 0: GPUs factorize panels. Only described machines have such a rate, to simulate OpenCL devices.
double panel_rate_of_cores();

}  // namespace tessera::device::gpu
