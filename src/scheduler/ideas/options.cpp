// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "common/environment.hpp"
#include "common/old_variables.hpp"

namespace tessera::scheduler {

namespace {

struct Option {
  std::string_view name;
  std::variant<bool Options::*, int Options::*, Locality Options::*> member;
  int least = 0, most = 0;  ///< the allowed range of a numeric option
};

constexpr Option known[] = {{"slots", &Options::slots, 1, 1024},
                            {"window", &Options::window, 1, 1024},
                            {"locality", &Options::locality},
                            {"chains", &Options::chains},
                            {"prefetch", &Options::prefetch},
                            {"lookahead", &Options::lookahead, 0, 100},
                            {"results", &Options::results, 0, 100},
                            {"wait", &Options::wait},
                            {"relay", &Options::relay},
                            {"steal", &Options::steal},
                            {"decline", &Options::decline},
                            {"models", &Options::models},
                            {"write-back", &Options::write_back}};

[[noreturn]] void refuse(std::string_view word, const std::string& why) {
  throw std::invalid_argument("TESSERA_SCHED has '" + std::string(word) + "', " + why);
}

const Option& option_named(std::string_view name, std::string_view word) {
  if (const auto* found = std::ranges::find(known, name, &Option::name); found != std::end(known)) return *found;
  std::string names;
  for (const auto& option : known)
    names += (names.empty() ? "" : ", ") + std::string(option.name) + (option.most > 0 ? "=N" : "");
  refuse(word, "which is not an option of the policy; its options are " + names);
}

Locality locality_named(std::string_view word) {
  if (word == "locality" || word == "+locality" || word == "locality=time") return Locality::Time;
  if (word == "-locality" || word == "locality=off") return Locality::Off;
  if (word == "locality=hits") return Locality::Hits;
  refuse(word, "must be locality=time, locality=hits or locality=off");
}

/// Applies one word: `name` or `+name` switches an idea on, `-name` switches it off, `name=value` sets a number or
/// selects a method.
/// @return  the option
std::string_view set(Options& options, std::string_view word) {
  const bool sign = word.starts_with('+') || word.starts_with('-');
  const auto equals = std::min(word.find('='), word.size());
  const auto& option = option_named(word.substr(sign, equals - sign), word);
  const std::string name(option.name);
  if (const auto* member = std::get_if<bool Options::*>(&option.member)) {
    if (equals < word.size()) refuse(word, "must be " + name + " or -" + name);
    options.*(*member) = !word.starts_with('-');
  } else if (const auto* way = std::get_if<Locality Options::*>(&option.member)) {
    options.*(*way) = locality_named(word);
  } else {
    const auto value = common::as_number<int>(word.substr(std::min(equals + 1, word.size())));
    if (sign || !value || *value < option.least || *value > option.most)
      refuse(word, "must be " + name + "=N with a number from " + std::to_string(option.least) + " to " +
                       std::to_string(option.most));
    options.*std::get<int Options::*>(option.member) = *value;
  }
  return option.name;
}

}  // namespace

Options options_from_environment() {
  if (const auto* old = common::old_variable_in_use("TESSERA_SCHED_"))
    throw std::invalid_argument(std::string(old->name) + " " + old->problem());
  Options options;
  std::set<std::string_view> named;
  for (const auto part : std::views::split(common::environment("TESSERA_SCHED"), ',')) {
    const std::string_view word(part.begin(), part.end());
    if (const auto name = set(options, word); !named.insert(name).second)
      refuse(word, "but " + std::string(name) + " may be given only once");
  }
  return options;
}

}  // namespace tessera::scheduler
