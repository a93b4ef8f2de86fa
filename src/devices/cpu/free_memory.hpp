// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::device {

/// Host memory that this process can still allocate [bytes]: the minimum of what the system and the control groups
/// report.
double free_memory();

}  // namespace tessera::device
