// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call.hpp"

namespace tessera::dropin {

class HostBlas;

/// A call with sizes or leading dimensions of 2³¹ and more, on a host BLAS that counts in 32 bits: cut into pieces of
/// the dimensions that a result may be cut along, whose operands are copied where their columns lie too far apart.
/// @return false, and nothing is done, if there is no memory for the copies
bool compute_large(const HostBlas& host, const Call& call);

}  // namespace tessera::dropin
