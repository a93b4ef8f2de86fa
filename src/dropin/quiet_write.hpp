// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tessera::dropin {

/// Writes `text` in one piece. A pipe that nobody reads, or a limit on the size of files, is an error as any other: its
/// signal does not reach the program.
/// @return false if not all of it has been written; errno says why
bool write_quietly(int file, std::string_view text);

}  // namespace tessera::dropin
