// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/types.hpp>

#include "blas/call.hpp"
#include "tiling/plan.hpp"

namespace tessera::detail {

class Session;

/// Computes a legal call of gemm or gemmt that writes C, with a given plan (gemmt: without panels). Returns when the
/// result is in the caller's memory. This is the second half of `compute_gemm`, which chooses the plan; tests give
/// plans that this machine would not choose.
template <Scalar T>
void compute_product(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call);

}  // namespace tessera::detail
