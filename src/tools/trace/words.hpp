// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "trace/recorded_run.hpp"

/// Formatting of quantities for people.
namespace tessera::trace {

/// At most three digits: "3.2", "38", "120"
inline std::string digits(double value) { return fmt::format("{:.{}f}", value, value < 9.95 ? 1 : 0); }

inline std::string seconds(double s) {
  if (s < 999.5e-6) return fmt::format("{:.0f} µs", s * 1e6);
  return s < 0.9995 ? digits(s * 1e3) + " ms" : s < 9.95 ? fmt::format("{:.2f} s", s) : fmt::format("{:.1f} s", s);
}

inline std::string bytes(double n) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; n >= 999.5 && unit + 1 < units.size(); ++unit) n /= 1000;
  return (unit == 0 ? fmt::format("{:.0f}", n) : digits(n)) + " " + units[unit];
}

inline std::string rate(double bytes_per_second) { return bytes(bytes_per_second) + "/s"; }

/// A rate in the unit that the page uses.
inline std::string flop_rate(double per_second) {
  const auto [name, size] = per_second >= 1e12  ? std::pair{"TFLOP/s", 1e12}
                            : per_second >= 1e9 ? std::pair{"GFLOP/s", 1e9}
                                                : std::pair{"MFLOP/s", 1e6};
  return fmt::format("{:.4g} {}", per_second / size, name);
}

inline std::string percent(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }

/// The name of a node within a sentence: "the host", "GPU 1"
inline std::string place(const Run& run, int node) {
  return run.nodes[node].kind == Kind::Host ? "the host" : run.nodes[node].name;
}

}  // namespace tessera::trace
