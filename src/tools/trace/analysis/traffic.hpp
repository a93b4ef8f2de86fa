// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "analysis.hpp"
#include "lookups.hpp"

namespace tessera::trace {

/// Those that carried any, by the nodes at their ends.
std::vector<LinkUse> use_of_links(const Lookups& lookups);
/// Of the operands that tasks have or transfers carry, by their letters.
std::vector<OperandTraffic> traffic_of_operands(const Lookups& lookups);
Hits hits_of(const Lookups& lookups);

}  // namespace tessera::trace
