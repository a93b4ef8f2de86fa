// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <tuple>

#include "backend.hpp"

namespace tessera::scheduler {

/// Predicts how long a task takes on each model of worker: the median of what has been measured lately for the same
/// implementation of the same codelet and about the same size. Before the second measurement, the task's own
/// performance model answers, if it has one.
class DurationModel {
 public:
  explicit DurationModel(const Backend& backend) : backend_(backend) {}

  /// Adds a measurement.
  /// @returns whether the duration of such tasks has become known by it
  bool finished(const Task& task, int model, double seconds);
  /// @param worker  any worker of the model
  /// @returns the prediction [s]; 0: not known
  double seconds(const Task& task, int model, int worker) const;

  /// Whether two tasks take as long as each other on the same worker.
  static bool are_alike(const Task& a, const Task& b);

 private:
  /// Codelet, number of the implementation, model of worker, and the binary logarithm of the memory of the tiles.
  using Key = std::tuple<CodeletId, unsigned, int, int>;

  struct Recent {
    bool warm = false;             ///< a task has run before. The first one may have had to load a library
    std::size_t count = 0;         ///< measurements after the first one
    std::array<double, 5> last{};  ///< so two that a busy machine has disturbed do not move the median
    double median = 0;
  };
  const Backend& backend_;
  std::map<Key, Recent> measured_;
};

}  // namespace tessera::scheduler
