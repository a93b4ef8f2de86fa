// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ranges>

#include "variables.hpp"

namespace tessera::common {

/// The devices that TESSERA_DEVICES selects. The numbers are those of RuntimeOptions; -1: not specified.
struct DeviceChoice {
  int gpus = -1, cuda = -1, opencl = -1;
  bool cpu_only = false;  ///< CPU workers compute, even in the drop-in
  /// Whether it allows no GPU.
  bool no_gpus() const { return gpus == 0 || (cuda == 0 && opencl == 0); }
  /// Whether the drop-in leaves all calls to the host BLAS.
  bool none() const { return no_gpus() && !cpu_only; }
};

constexpr Values device_count = values::numbers(0, 65536);

/// @throws ArgumentError
inline DeviceChoice device_choice() {
  const auto text = text_of(variables::devices);
  const auto count = [](std::string_view number) {
    const auto value = as_number<int>(number);
    if (!value || *value < device_count.least || *value > device_count.most) refuse(variables::devices);
    return *value;
  };
  DeviceChoice choice;
  if (text.empty() || text == "all") return choice;
  choice.cpu_only = text == "cpu";
  if (choice.cpu_only || text == "none") choice.gpus = 0;
  else if (text.find('=') == std::string_view::npos) choice.gpus = count(text);
  else
    for (const auto part : std::views::split(text, ',')) {
      const std::string_view word(part.begin(), part.end());
      auto& number = word.starts_with("cuda=") ? choice.cuda : choice.opencl;
      if (!(word.starts_with("cuda=") || word.starts_with("opencl=")) || number >= 0) refuse(variables::devices);
      number = count(word.substr(word.find('=') + 1));
    }
  return choice;
}

}  // namespace tessera::common
