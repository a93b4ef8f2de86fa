// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call.hpp"

namespace tessera::dropin {

class HostBlas;

/// A triangle of a product on a host that has no routine for it: rectangles by its gemm, and small squares on the
/// diagonal, of which the triangle is added.
void gemmt_by_gemm(const HostBlas& host, const Call& call);

}  // namespace tessera::dropin
