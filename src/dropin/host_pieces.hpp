// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/call.hpp"

namespace tessera::dropin {

using blas::Call;

class HostBlas;

/// Computes a call with sizes or leading dimensions of 2³¹ or more on a host BLAS with 32-bit integers. Cuts the call
/// into pieces along the dimensions that allow it, and copies operands whose leading dimension is too large.
/// @return  false if there is no memory for the copies; nothing was done
bool compute_large(const HostBlas& host, const Call& call);

/// Computes gemmt on a host BLAS without that routine. gemm computes the rectangles off the diagonal directly, and
/// small diagonal squares in a buffer, whose triangle is added to C.
void gemmt_by_gemm(const HostBlas& host, const Call& call);

}  // namespace tessera::dropin
