// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/call.hpp"

namespace tessera::dropin {

using blas::Call;

class HostBlas;

/// Computes gemmt on a host BLAS without that routine. gemm computes the rectangles off the diagonal directly, and
/// small diagonal squares in a buffer, whose triangle is added to C.
void gemmt_by_gemm(const HostBlas& host, const Call& call);

}  // namespace tessera::dropin
