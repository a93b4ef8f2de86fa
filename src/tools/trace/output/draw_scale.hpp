// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace tessera::trace {

/// A unit for readable numbers, with round positions for ticks.
struct Scale {
  const char* unit = "";
  double factor = 1;          ///< a value in this unit is value / factor
  double step = 1;            ///< between ticks, as a value
  std::vector<double> ticks;  ///< values, starting at 0

  std::string label(double value) const {
    const double in_unit = value / factor, in_steps = step / factor;
    const int digits = in_steps >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(in_steps) - 1e-9));
    return fmt::format("{:.{}f}", in_unit, digits);
  }
};

/// Places ticks at 1, 2 or 5 times a power of ten, at most `most` of them after 0.
inline Scale with_ticks(Scale scale, double end, int most) {
  const double least = end / scale.factor / most, power = std::pow(10, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0, 10.0}) {
    scale.step = digit * power * scale.factor;
    if (digit * power >= least * (1 - 1e-9)) break;
  }
  for (int i = 0; i * scale.step <= end * (1 + 1e-9); ++i) scale.ticks.push_back(i * scale.step);
  return scale;
}

/// @pre  seconds > 0
inline Scale time_scale(double seconds, int most) {
  return with_ticks(seconds < 1e-3 ? Scale{"µs", 1e-6, 1, {}}
                    : seconds < 1  ? Scale{"ms", 1e-3, 1, {}}
                                   : Scale{"s", 1, 1, {}},
                    seconds, most);
}

/// @pre  bytes > 0
inline Scale byte_scale(double bytes, int most) {
  return with_ticks(bytes < 1e6   ? Scale{"kB", 1e3, 1, {}}
                    : bytes < 1e9 ? Scale{"MB", 1e6, 1, {}}
                                  : Scale{"GB", 1e9, 1, {}},
                    bytes, most);
}

/// Ticks at whole numbers only.
/// @pre  count > 0
inline Scale count_scale(double count, int most) {
  auto scale = with_ticks(Scale{}, count, most);
  return scale.step < 1 ? with_ticks(Scale{}, count, 1) : scale;
}

/// Three digits and a unit: "61.2 ms".
inline std::string readable(double value, const Scale& scale) {
  const double in_unit = value / scale.factor;
  return fmt::format("{:.{}f} {}", in_unit, in_unit >= 99.95 ? 0 : in_unit >= 9.995 ? 1 : 2, scale.unit);
}
inline std::string readable_time(double seconds) { return readable(seconds, time_scale(std::max(seconds, 1e-9), 1)); }
inline std::string readable_bytes(double bytes) { return readable(bytes, byte_scale(std::max(bytes, 1.0), 1)); }

}  // namespace tessera::trace
