// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::detail {

/// Counts a tile task for `statistics`.
void count_submitted();

/// @throws RuntimeError with the first failure that a tile operation has left
void throw_failure();

}  // namespace tessera::detail
