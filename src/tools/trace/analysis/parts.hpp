// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "trace/analysis/analysis.hpp"
#include "trace/analysis/lookups.hpp"

/// The steps of `analyse`.
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

/// Every change of the number of ready or running tasks.
Series ready_tasks(const Lookups& lookups);
Series running_tasks(const Lookups& lookups);

/// The smallest value between two times.
int least_between(const Series& series, double begin, double end);

/// Thins a series for a picture, which is at most some thousand points wide. The time is divided into `parts` equal
/// parts. The first, last, lowest and highest point of each are kept.
template <class Value>
void thin(std::vector<double>& time, std::vector<Value>& values, double span, std::size_t parts = 1000) {
  if (time.size() <= 4 * parts) return;
  const auto part_of = [&](std::size_t i) {
    return static_cast<std::size_t>(time[i] / span * static_cast<double>(parts));
  };
  std::size_t kept = 0;
  for (std::size_t begin = 0, end = 0; begin < time.size(); begin = end) {
    while (end < time.size() && part_of(end) == part_of(begin)) ++end;
    const auto [low, high] = std::minmax_element(values.begin() + begin, values.begin() + end);
    std::size_t points[] = {begin, static_cast<std::size_t>(low - values.begin()),
                            static_cast<std::size_t>(high - values.begin()), end - 1};
    std::ranges::sort(points);
    const auto* rest = std::unique(std::begin(points), std::end(points));
    for (const auto* point = points; point != rest; ++point, ++kept)
      time[kept] = time[*point], values[kept] = values[*point];
  }
  time.resize(kept), values.resize(kept);
}

/// The links that carried data, ordered by the nodes at their ends.
std::vector<LinkUse> use_of_links(const Lookups& lookups);
/// The operands of tasks and transfers, ordered by letter.
std::vector<OperandTraffic> traffic_of_operands(const Lookups& lookups);
Hits hits_of(const Lookups& lookups);

}  // namespace tessera::trace
