// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "analysis.hpp"
#include "lookups.hpp"

namespace tessera::trace {

struct Gaps {
  std::vector<Shares> workers;
  std::vector<Gap> worst;  ///< without their texts
};

/// Where the time of all workers went, and the `most` longest gaps. A host's cores that only help GPUs a little are
/// not among these: they would fill the list.
Gaps find_gaps(const Lookups& lookups, std::size_t most);

/// The sentence for people.
/// @param ready  tasks over time, all changes
std::string explain(const Lookups& lookups, const Series& ready, const Gap& gap);

}  // namespace tessera::trace
