// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call.hpp"

namespace tessera::dropin {

/// Computes a legal call, column-major, where that is expected to be done first. If the devices fail, the host does it
/// again, from what the operands were before. Empty calls are the host's.
/// @return false if nothing has been done: there is no host BLAS, or no memory for one that counts in 32 bits
bool dispatch(const Call& call) noexcept;

}  // namespace tessera::dropin
