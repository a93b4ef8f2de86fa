// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tessera::dropin {

/// The BLAS libraries in this process that belong to a single Python package, as in wheels from PyPI
/// (numpy.libs/libscipy_openblas64_-….so), separated by commas; "" if there are none. Their symbols have private names,
/// so their calls bypass the drop-in.
std::string foreign_blas();

}  // namespace tessera::dropin
