// SPDX-License-Identifier: BSD-3-Clause
#include "link_bound.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tessera::detail {

LinkBound link_bound(const MachineModel& machine, double rate, Index m, Index n, Index k) {
  LinkBound bound;
  for (const Index extent : {m, n, k}) bound.sum += 1 / static_cast<double>(extent);
  bound.least = machine.element_size / machine.flops_per_multiply_add * rate / machine.rates.link;
  bound.smallest = std::min({m, n, k});
  return bound;
}

std::string LinkBound::text() const {
  std::ostringstream text;
  text << "1/m + 1/n + 1/k of a block is 1/" << std::llround(1 / sum) << ", " << (link_feeds() ? "below" : "not below")
       << " the link's 1/" << std::llround(least);
  if (!link_feeds())
    text << (static_cast<double>(smallest) <= least ? ": the smallest dimension alone is too small for the link"
                                                    : ": the link limits");
  return text.str();
}

}  // namespace tessera::detail
