// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>
#include <utility>

#include "common/environment.hpp"
#include "common/variables.hpp"
#include "shared/exit_code.hpp"
#include "shared/formatting.hpp"

namespace tessera::tools {

/// Parses rows and columns, such as 2x3.
/// @param of  what they are of, for the message
inline std::pair<int, int> parse_pair(const char* option, const std::string& text, const char* of = "") {
  const auto words = std::string_view(text);
  const auto x = words.find('x');
  const int rows = common::as_number<int>(words.substr(0, x)).value_or(0),
            columns = x == words.npos ? 0 : common::as_number<int>(words.substr(x + 1)).value_or(0);
  if (rows < 1 || columns < 1) throw BadArgument(option, text, fmt::format("must be rows and columns{}, e.g. 2x3", of));
  return {rows, columns};
}

/// Wraps --help at 100 characters, which CLI11 does not.
class WrappedHelp : public CLI::Formatter {
  static constexpr std::size_t width = 100;

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), width) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    const auto text = wrapped(app->get_footer(), width);
    return text.empty() ? text : text + "\n";
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), width - get_column_width());
  }
};

/// Adds --version, and parses. Refuses variables of earlier versions, and reports unknown ones.
/// @param speaks  false: prints nothing, because another process of the program does
/// @return        false if --help or --version was given, after printing the text
/// @throws BadArgument, ArgumentError
inline bool parse_command_line(CLI::App& app, int argc, char** argv, bool speaks = true) {
  app.formatter(std::make_shared<WrappedHelp>());
  app.set_version_flag("--version", app.get_name() + " " TESSERA_VERSION, "Print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    throw BadArgument(std::string(error.what()) + "; --help lists the options");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw BadArgument(error.what());
    if (speaks) app.exit(error);
    return false;
  }
  common::refuse_old_variables();
  if (const auto remark = common::remark_on_unknown_variables(); speaks && !remark.empty())
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), remark.c_str());
  return true;
}

}  // namespace tessera::tools
