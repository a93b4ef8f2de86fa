// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace tessera::trace {

/// The command line, understood.
struct Options {
  std::vector<std::filesystem::path> folders;  ///< one, or two to be compared
  std::filesystem::path output;                ///< a folder; of a comparison, a file

  bool compares() const { return folders.size() == 2; }
};

/// @return nothing if only help was asked for, which has then been printed
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace tessera::trace
