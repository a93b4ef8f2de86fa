// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/distributed.hpp>

namespace tessera::distributed {

/// The places of the fields of a descriptor of ScaLAPACK.
namespace field {
enum { Type, Context, M, N, Mb, Nb, FirstRow, FirstColumn, Lld };
}

/// Checks a descriptor of ScaLAPACK and the array of this process, as the constructor of DistributedMatrix does.
/// @throws ArgumentError
void require_descriptor(const Grid& grid, const void* data, const int* desc);

}  // namespace tessera::distributed
