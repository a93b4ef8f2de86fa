// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/types.hpp>

#include "blas/call.hpp"
#include "tiling/plan.hpp"

namespace tessera::detail {

class Session;

// Each computes a legal call that writes its output, with a given plan, and returns when the result is in the caller's
// memory. This is the second half of what chooses the plan; tests give plans that this machine would not choose.

/// gemm, or gemmt: without panels.
template <Scalar T>
void compute_product(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call);
/// syrk, herk, syr2k and her2k. With panels, their factors are not transposed.
template <Scalar T>
void compute_update(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call);
/// symm and hemm. With panels, A is on the left.
template <Scalar T>
void compute_symmetric(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call);
/// trmm and trsm. With panels, A is on the left and not transposed.
template <Scalar T>
void compute_triangular(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call);

/// Instantiates one of these functions for all types.
#define INSTANTIATE_PLANNED(compute) FOR_SDCZ(INSTANTIATE_PLANNED_TYPE, compute)
#define INSTANTIATE_PLANNED_TYPE(letter, T, compute) \
  template void compute<T>(const std::shared_ptr<Session>&, const Plan&, const blas::Call&);

}  // namespace tessera::detail
