// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <tuple>

#include "backend.hpp"

namespace tessera::scheduler {

/// Predicts how long a task takes on each model of worker: the average of what has been measured for the same codelet
/// and about the same size. Before the second measurement, the task's own performance model answers, if it has one.
class DurationModel {
 public:
  explicit DurationModel(const Backend& backend) : backend_(backend) {}

  /// Adds a measurement.
  void finished(const Task& task, int model, double seconds);
  /// @param worker  any worker of the model
  /// @returns the prediction [s]; 0: not known
  double seconds(const Task& task, int model, int worker) const;

 private:
  /// Codelet, model of worker, and the binary logarithm of the memory of the tiles.
  using Key = std::tuple<CodeletId, int, int>;
  static Key key(const Task& task, int model);

  struct Average {
    double seconds = 0;
    bool warm = false;  ///< more than one task has been measured. The first one may have had to load a library
  };
  const Backend& backend_;
  std::map<Key, Average> measured_;
};

}  // namespace tessera::scheduler
