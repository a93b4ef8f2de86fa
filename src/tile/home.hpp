// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "blas/arguments.hpp"

/// Where the caller's memory is: the home of its tiles, from which they are fetched and to which results return.
namespace tessera::detail {

/// StarPU's memory node of an address. Empty: it is of a GPU that no worker drives.
std::optional<int> home_of(const void* data);

/// Checks where an operand is, starting Tessera if it is on a GPU or in managed memory. Then waits for what was queued
/// on the legacy default stream of that GPU, or of all, since the operand may be the result of it.
/// @pre  `arguments::illegal_memory` is legal
/// @throws ArgumentError if Tessera does not use the GPU, or the operand is longer than the memory
void require_reachable(const char* routine, const arguments::StoredMatrix& operand);

}  // namespace tessera::detail
