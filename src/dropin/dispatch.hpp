// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call.hpp"

namespace tessera::dropin {

/// Computes a legal call, column-major, where that is expected to be done first. If the devices fail, the host does it
/// again, from what the operands were before.
void dispatch(const Call& call) noexcept;

/// Hands a call to the host unseen: it uses what only the host may know, such as OpenBLAS's op 'R'.
void pass_to_host(const Call& call) noexcept;

}  // namespace tessera::dropin
