// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include <tessera/types.hpp>

#include "panel_tuning.hpp"

namespace tessera::algorithms {

/// The number of panels at the start of a right-looking factorization that update each column while the next column is
/// still arriving. Few columns can be updated at that time, so each column should get as many updates as possible.
/// @param to       has panels(), are_owned(), bytes(k), and update_flops(k, j)
/// @param factors  number of panels to factorize
template <typename Ops>
Index first_panels(const Ops& to, Index factors) {
  const Index all = to.panels();
  if (!to.are_owned() || all < 2) return std::min(factors, std::max<Index>(1, all / tuning::first_panels_without_gpus));
  const double wanted = std::round(to.bytes(1) * tuning::flops_of_byte / std::max(to.update_flops(0, 1), 1.0));
  return std::min(factors,
                  std::clamp<Index>(static_cast<Index>(wanted), 1, std::max<Index>(1, all / tuning::first_panels)));
}

/// A left-looking factorization, for an A that does not fit into the memory of the GPUs. Each panel arrives, is updated
/// by all previous panels, and is factorized.
/// @param together   number of panels in a group: each earlier panel is fetched once per group, and updates all of it
/// @param update     (k, j): updates panel j with panel k
/// @param factorize  (j): factorizes panel j
template <typename Update, typename Factorize>
void left_looking(Index all, Index factors, Index together, Update update, Factorize factorize) {
  for (Index begin = 0; begin < all; begin += together) {
    const Index end = std::min(begin + together, all);
    for (Index k = 0; k < std::min(begin, factors); k++)
      for (Index j = begin; j < end; j++) update(k, j);
    for (Index j = begin; j < end; j++) {
      for (Index k = begin; k < std::min(j, factors); k++) update(k, j);
      if (j < factors) factorize(j);
    }
  }
}

}  // namespace tessera::algorithms
