// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/distributed.hpp>

namespace tessera::detail {

/// Checks a descriptor of ScaLAPACK and the array of this process, as the constructor of DistributedMatrix does.
/// @throws ArgumentError
void require_descriptor(const Grid& grid, const void* data, const int* desc);

}  // namespace tessera::detail
