// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/analysis/analysis.hpp"
#include "trace/analysis/lookups.hpp"

namespace tessera::trace {

struct Gaps {
  std::vector<Shares> workers;
  std::vector<Gap> worst;  ///< without their texts
};

/// Computes the shares of all workers and the `most` longest gaps. Gaps of cores that contribute little are left out,
/// because they would fill the list.
Gaps find_gaps(const Lookups& lookups, std::size_t most);

/// Describes the gap in a sentence.
/// @param ready  every change of the number of ready tasks
std::string explain(const Lookups& lookups, const Series& ready, const Gap& gap);

}  // namespace tessera::trace
