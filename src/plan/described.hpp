// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "machine_model.hpp"

namespace tessera::simulation {
struct Machine;
}

namespace tessera::plan {

/// The model of the GPUs of a described machine.
Machine describe(const simulation::Machine& machine, const std::vector<int>& gpus, char type, double element_size,
                 double flops_per_multiply_add);

}  // namespace tessera::plan
