// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tessera::dropin {

/// Writes `text` with one write(2). A pipe without a reader, or the limit on file sizes, causes an ordinary error: the
/// program does not get SIGPIPE or SIGXFSZ.
/// @return false if not all of `text` has been written; errno holds the reason
bool write_quietly(int file, std::string_view text);

}  // namespace tessera::dropin
