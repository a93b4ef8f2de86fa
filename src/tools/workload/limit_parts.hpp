// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "blas/call.hpp"

namespace tessera::bench {

/// Total rates of all devices, measured with all of them busy [per second].
struct DeviceRates {
  double flops = 0;
  double in = 0, out = 0;  ///< bytes in one direction; 0: nothing is copied
  double both = 0;         ///< bytes in both directions at once
};

/// Lower bounds of a call's time, by resource [s].
struct LimitParts {
  double arithmetic = 0;
  double in = 0, out = 0;  ///< time of the compulsory copies to the GPUs, and to the host
  double both = 0;         ///< time of all compulsory copies
  double chain = 0;        ///< critical path of Tessera's factorization

  double longest() const { return std::max({arithmetic, in, out, both, chain}); }
  /// The name of the longest part.
  std::string bound() const {
    const std::array<std::pair<double, const char*>, 5> parts{
        {{arithmetic, "arithmetic"}, {in, "in"}, {out, "out"}, {both, "both"}, {chain, "chain"}}};
    return std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first)->second;
  }
};

inline LimitParts limit_parts(double flops, const blas::Traffic& bytes, const DeviceRates& rates) {
  LimitParts parts{.arithmetic = flops / rates.flops};
  if (rates.in > 0) {
    parts.in = bytes.in / rates.in, parts.out = bytes.out / rates.out;
    parts.both = (bytes.in + bytes.out) / rates.both;
  }
  return parts;
}

}  // namespace tessera::bench
