// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "calls.hpp"
#include "machine_model.hpp"
#include "sums.hpp"

/// The plans that are compared for a call.
namespace tessera::plan {

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Cholesky& call);
std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const LuNoPiv& call);
std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Lu& call);
std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Qr& call);
std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Triangular& call);
std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Sums& call);

}  // namespace tessera::plan
