// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

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

}  // namespace tessera::tools
