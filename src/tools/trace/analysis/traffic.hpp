// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/analysis/analysis.hpp"
#include "trace/analysis/lookups.hpp"

namespace tessera::trace {

/// The links that carried data, ordered by the nodes at their ends.
std::vector<LinkUse> use_of_links(const Lookups& lookups);
/// The operands of tasks and transfers, ordered by letter.
std::vector<OperandTraffic> traffic_of_operands(const Lookups& lookups);
Hits hits_of(const Lookups& lookups);

}  // namespace tessera::trace
