// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <unistd.h>

#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

namespace tessera::scheduler {

namespace {

constexpr std::string_view prefix = "TESSERA_SCHED_";

[[noreturn]] void refuse(std::string_view name, std::string_view value, const std::string& allowed) {
  throw std::invalid_argument(std::string(prefix) + std::string(name) + " is '" + std::string(value) + "', must be " +
                              allowed);
}

/// Reads the text of one variable into its option.
using Reader = std::function<void(std::string_view name, std::string_view text)>;

Reader on_or_off(bool& option) {
  return [&option](std::string_view name, std::string_view text) {
    if (text != "on" && text != "off") refuse(name, text, "on or off");
    option = text == "on";
  };
}

Reader number(int& option, int smallest, int largest) {
  return [&option, smallest, largest](std::string_view name, std::string_view text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), option);
    if (error != std::errc{} || end != text.data() + text.size() || option < smallest || option > largest)
      refuse(name, text, "a number from " + std::to_string(smallest) + " to " + std::to_string(largest));
  };
}

}  // namespace

Options options_from_environment() {
  Options options;
  const std::map<std::string_view, Reader> readers{{"SLOTS", number(options.slots, 1, 1024)},
                                                   {"WINDOW", number(options.window, 1, 1024)},
                                                   {"LOCALITY", on_or_off(options.locality)},
                                                   {"CHAINS", on_or_off(options.chains)},
                                                   {"PREFETCH", on_or_off(options.prefetch)},
                                                   {"LOOKAHEAD", number(options.lookahead, 0, 100)},
                                                   {"RESULTS", number(options.results, 0, 100)},
                                                   {"PEERS", on_or_off(options.peers)},
                                                   {"WAIT", on_or_off(options.wait)},
                                                   {"STEAL", on_or_off(options.steal)},
                                                   {"DECLINE", on_or_off(options.decline)},
                                                   {"WRITE_BACK", on_or_off(options.write_back)}};
  for (char** variable = environ; *variable != nullptr; variable++) {
    const std::string_view text = *variable;
    if (!text.starts_with(prefix)) continue;
    const auto equals = text.find('=');
    const auto name = text.substr(prefix.size(), equals - prefix.size());
    const auto reader = readers.find(name);
    if (reader == readers.end()) {
      std::string known;
      for (const auto& [key, ignored] : readers) known += (known.empty() ? "" : ", ") + std::string(key);
      throw std::invalid_argument(std::string(prefix) + std::string(name) + " is no option of the policy; there are " +
                                  std::string(prefix) + " " + known);
    }
    if (const auto value = text.substr(equals + 1); !value.empty()) reader->second(name, value);
  }
  return options;
}

}  // namespace tessera::scheduler
