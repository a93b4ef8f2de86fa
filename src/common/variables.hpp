// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include <tessera/error.hpp>

#include "environment.hpp"
#include "old_variables.hpp"

/// The table of environment variables, and functions that read and check the variables.
namespace tessera::common {

/// The allowed values of a variable: words from a list, numbers in a range, or text of a described form.
struct Values {
  std::string_view words = {}, text = {};
  std::int64_t least = 0, most = 0;

  std::string allowed() const {
    if (!text.empty()) return std::string(text);
    if (words.empty()) return "a number from " + std::to_string(least) + " to " + std::to_string(most);
    std::string list(words);
    if (const auto last = list.rfind('|'); last != list.npos) list.replace(last, 1, " or ");
    for (auto bar = list.find('|'); bar != list.npos; bar = list.find('|', bar)) list.replace(bar, 1, ", ");
    return list;
  }
};
namespace values {  // the names that the table uses
constexpr Values text(std::string_view what) { return {.text = what}; }
constexpr Values words(std::string_view list) { return {.words = list}; }
constexpr Values numbers(std::int64_t least, std::int64_t most) { return {.least = least, .most = most}; }
constexpr Values mebibytes() { return numbers(0, std::int64_t{1} << 40); }
}  // namespace values

struct Variable {
  const char* name;
  Values values;
};

/// Variables without a field in RuntimeOptions; src/runtime/start_options.cpp reads the others.
namespace variables {
using namespace values;
#define FIELD(...)
#define VARIABLE(name, variable, values, ...) inline constexpr Variable name{variable, values};
#include "variables.def"
#undef FIELD
#undef VARIABLE
}  // namespace variables

/// The error of an option: a field of RuntimeOptions, or an environment variable.
inline ArgumentError option_error(std::string option, const std::string& problem) {
  return {"Runtime", 0, std::move(option), problem};
}

/// @throws ArgumentError if a variable of an earlier version is set
inline void refuse_old_variables() {
  if (const auto* old = old_variable_in_use("TESSERA_")) throw option_error(std::string(old->name), old->problem());
}

[[noreturn]] inline void refuse(const Variable& variable) {
  throw option_error(variable.name,
                     "is '" + std::string(environment(variable.name)) + "', must be " + variable.values.allowed());
}

/// The text of a variable; "" if it is not set.
/// @throws ArgumentError if it is not one of the words that the table allows
inline std::string_view text_of(const Variable& variable) {
  const auto text = environment(variable.name);
  const auto is_text = [&](auto word) { return std::string_view(word.begin(), word.end()) == text; };
  const auto& words = variable.values.words;
  if (!words.empty() && !text.empty() && std::ranges::none_of(std::views::split(words, '|'), is_text)) refuse(variable);
  return text;
}

/// @throws ArgumentError if the number is outside the range that the table allows
inline std::optional<std::int64_t> number_in(const Variable& variable) {
  const auto text = text_of(variable);
  if (text.empty()) return {};
  const auto number = as_number<std::int64_t>(text);
  if (!number || *number < variable.values.least || *number > variable.values.most) refuse(variable);
  return number;
}

/// Whether the variable is 1; empty if it is not set.
inline std::optional<bool> flag_in(const Variable& variable) {
  const auto text = text_of(variable);
  return text.empty() ? std::nullopt : std::optional(text == "1");
}

/// A sentence that names unknown TESSERA_ variables; "" if there are none. Mistyped names would otherwise go unnoticed.
inline std::string remark_on_unknown_variables() {
  constexpr std::string_view known[] = {
#define FIELD(name, variable, ...) variable,
#define VARIABLE FIELD
#include "variables.def"
#undef FIELD
#undef VARIABLE
  };
  std::string names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++) {
    const std::string_view variable(*entry), name = variable.substr(0, variable.find('='));
    if (!name.starts_with("TESSERA_") || name.starts_with("TESSERA_TEST_") ||
        std::ranges::find(known, name) != std::end(known) ||
        std::ranges::find(old_variables, name, &OldVariable::name) != std::end(old_variables))
      continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names.empty() ? "" : names + ": unknown variable, ignored; see docs/environment.md";
}

}  // namespace tessera::common
