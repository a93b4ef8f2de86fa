// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "analysis.hpp"
#include "lookups.hpp"

namespace tessera::trace {

/// The path without its text, and where its time went.
struct Followed {
  Path path;
  std::map<int, double> computing;                  ///< by worker
  std::map<std::pair<int, int>, double> transfers;  ///< by link
};

Followed follow_back(const Lookups& lookups);

/// Seconds of the longest path by `after`.
double longest_chain(const Lookups& lookups);

/// The longest first.
std::vector<Bound> bounds_of(const Lookups& lookups, const std::vector<LinkUse>& links, double longest_chain);

/// What bounded the run, in a sentence.
std::string explain(const Lookups& lookups, const Followed& followed, const std::vector<Bound>& bounds);

}  // namespace tessera::trace
