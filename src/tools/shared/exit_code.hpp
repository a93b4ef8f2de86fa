// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <tessera/error.hpp>

namespace tessera::tools {

/// Exit statuses of the programs.
enum ExitCode { Success = 0, CheckFailed = 1, BadArguments = 2, RuntimeFailed = 3 };

/// An invalid command line: names the option, its value and what is allowed.
class BadArgument : public std::runtime_error {
 public:
  BadArgument(const std::string& option, const std::string& value, const std::string& allowed)
      : std::runtime_error(fmt::format("{}: '{}' {}", option, value, allowed)) {}
  explicit BadArgument(const std::string& sentence) : std::runtime_error(sentence) {}
};

inline void print_error(const char* program, const char* message) {
  std::fprintf(stderr, "%s: %s\n", program, message);
}

/// Calls `run` and returns its exit code. An exception is printed after the program's name and becomes its exit code.
/// Lost output, for example on a full disk, is reported and turns success into failure.
/// @param print  (program, message); of several processes with the same error, one may print it
template <typename Run, typename Print>
int exit_code_of(const char* program, Run run, Print print) {
  const auto complain = [&](const std::exception& error) { print(program, error.what()); };
  try {
    const int code = run();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    complain(RuntimeError("standard output cannot be written"));
    return code == Success ? int{RuntimeFailed} : code;
  } catch (const BadArgument& error) {
    complain(error);
    return BadArguments;
  } catch (const ArgumentError& error) {  // from an environment variable, or found only by the Runtime
    complain(error);
    return BadArguments;
  } catch (const std::exception& error) {
    complain(error);
    return RuntimeFailed;
  }
}
template <typename Run>
int exit_code_of(const char* program, Run run) {
  return exit_code_of(program, run, print_error);
}

}  // namespace tessera::tools
