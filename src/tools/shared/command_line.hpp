// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include "shared/bad_argument.hpp"

namespace tessera::tools {

/// @return false if --help was given, after printing the help
/// @throws BadArgument
inline bool parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw BadArgument(error.what());
    app.exit(error);
    return false;
  }
  return true;
}

}  // namespace tessera::tools
