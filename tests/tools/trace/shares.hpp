// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>

#include "trace/analysis/analysis.hpp"

/// Comparing shares in tests, and printing them.
namespace tessera::trace {

inline void PrintTo(const Shares& shares, std::ostream* out) {
  *out << "{computing " << shares.computing << ", data " << shares.data << ", overhead " << shares.overhead << ", idle "
       << shares.idle << "}";
}
inline bool operator==(const Shares& a, const Shares& b) {
  return a.computing == b.computing && a.data == b.data && a.overhead == b.overhead && a.idle == b.idle;
}

inline Shares shares(double computing, double data, double overhead, double idle) {
  return {computing, data, overhead, idle};
}

}  // namespace tessera::trace
