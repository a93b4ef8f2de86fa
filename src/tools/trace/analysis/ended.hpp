// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "trace/run.hpp"

namespace tessera::trace {

/// Tasks or transfers, ordered by a key (a worker, a link, a tile on a node) and by their end.
class Ended {
 public:
  void add(std::int64_t key, double end, int index) { entries_.push_back({key, end, index}); }
  void sort() { std::sort(entries_.begin(), entries_.end()); }

  /// The last wanted entry that ended by `until`, or `none`. Gives up after a few unwanted entries.
  int last(std::int64_t key, double until, auto wanted) const {
    constexpr int patience = 8;
    auto at = std::upper_bound(entries_.begin(), entries_.end(), Entry{key, until, std::numeric_limits<int>::max()});
    for (int tried = 0; tried < patience && at != entries_.begin() && (at - 1)->key == key; ++tried)
      if (wanted((--at)->index)) return at->index;
    return none;
  }
  int last(std::int64_t key, double until) const {
    return last(key, until, [](int) { return true; });
  }

 private:
  struct Entry {
    std::int64_t key;
    double end;
    int index;
    bool operator<(const Entry& other) const {
      return std::tie(key, end, index) < std::tie(other.key, other.end, other.index);
    }
  };
  std::vector<Entry> entries_;
};

}  // namespace tessera::trace
