// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace tessera::trace {

/// Validated command line arguments.
struct Options {
  std::vector<std::filesystem::path> folders;  ///< one run, or two to compare
  std::filesystem::path output;                ///< a folder; for a comparison, a file

  bool compares() const { return folders.size() == 2; }
};

/// @return nothing if --help was given, after printing the help
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace tessera::trace
