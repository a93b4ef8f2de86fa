// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::tools {

/// What the programs return to the shell.
enum ExitCode { Success = 0, CheckFailed = 1, BadArguments = 2, RuntimeFailed = 3 };

/// A command line that cannot be followed: which option, its value, what is allowed.
class BadArgument : public std::runtime_error {
 public:
  BadArgument(const std::string& option, const std::string& value, const std::string& allowed)
      : std::runtime_error(fmt::format("{}: '{}' {}", option, value, allowed)) {}
  explicit BadArgument(const std::string& sentence) : std::runtime_error(sentence) {}
};

}  // namespace tessera::tools
