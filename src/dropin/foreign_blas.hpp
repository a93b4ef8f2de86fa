// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tessera::dropin {

/// The files of libraries in this process that are a BLAS of its own for one Python package, as wheels from PyPI have
/// them (numpy.libs/libscipy_openblas64_-….so), separated by commas; "" if there are none. Their symbols have names of
/// their own, so that no call of theirs comes through the drop-in.
std::string foreign_blas();

}  // namespace tessera::dropin
