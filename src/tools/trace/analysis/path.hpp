// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "trace/analysis/analysis.hpp"
#include "trace/analysis/lookups.hpp"

namespace tessera::trace {

/// The path without its text, and the places where its time was spent.
struct Followed {
  Path path;
  std::map<int, double> computing;                  ///< by worker
  std::map<std::pair<int, int>, double> transfers;  ///< by link
};

Followed follow_back(const Lookups& lookups);

/// Seconds of the longest chain of dependencies.
double longest_chain(const Lookups& lookups);

/// @return the bounds, the largest first
std::vector<Bound> bounds_of(const Lookups& lookups, const std::vector<LinkUse>& links, double longest_chain);

/// Describes in a sentence what limited the run.
std::string explain(const Lookups& lookups, const Followed& followed, const std::vector<Bound>& bounds);

}  // namespace tessera::trace
