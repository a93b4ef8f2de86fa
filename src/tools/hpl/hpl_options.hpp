// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <tessera/runtime.hpp>

#include "hpl/hpl_input.hpp"

namespace tessera::hpl {

/// The command line, validated as far as possible without knowing the machine.
struct Options {
  std::string file = "HPL.dat";
  RuntimeOptions runtime;      ///< its `tile`, unless it is 0, replaces every NB
  std::optional<bool> pinned;  ///< empty: pinned with CUDA GPUs
};

/// @return  empty if --help or --version was given, after printing the text
/// @throws BadArgument
/// @param speaks  false: prints nothing
std::optional<Options> parse_options(int argc, char** argv, bool speaks = true);

/// Reads the file. `tile` replaces every NB.
/// @throws BadArgument
Input read_input(const Options& options);

}  // namespace tessera::hpl
