// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tessera::dropin {

/// Writes `text` with one write(2). If a pipe has no reader, or a file exceeds its size limit, that is an ordinary
/// error: the program receives neither SIGPIPE nor SIGXFSZ.
/// @return  false if `text` was not written completely; errno holds the reason
bool write_quietly(int file, std::string_view text);

}  // namespace tessera::dropin
