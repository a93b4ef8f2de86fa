// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::detail {

/// Host memory that this process can still take [bytes]: the least of what the system and the control groups report.
double free_memory();

}  // namespace tessera::detail
