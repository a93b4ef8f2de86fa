// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>

#include <tessera/error.hpp>

#include "bad_argument.hpp"

namespace tessera::tools {

/// What `run` returns, or the exit code of what it throws, which is printed after the program's name.
template <typename Run>
int exit_code_of(const char* program, Run run) {
  const auto complain = [&](const std::exception& error) { std::fprintf(stderr, "%s: %s\n", program, error.what()); };
  try {
    return run();
  } catch (const BadArgument& error) {
    complain(error);
    return BadArguments;
  } catch (const ArgumentError& error) {  // an environment variable, or what only the Runtime finds
    complain(error);
    return BadArguments;
  } catch (const std::exception& error) {
    complain(error);
    return RuntimeFailed;
  }
}

}  // namespace tessera::tools
