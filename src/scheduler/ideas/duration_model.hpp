// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <tuple>

#include "backend.hpp"

namespace tessera::scheduler {

/// Predicts the duration of a task on each model of worker: the median of recent measurements of the same
/// implementation of the same codelet at about the same size. Before the second measurement, the task's own performance
/// model is used, if there is one.
class DurationModel {
 public:
  /// @param models  whether to use the tasks' own performance models
  DurationModel(const Backend& backend, bool models) : backend_(backend), models_(models) {}

  /// Adds a measurement.
  /// @returns  whether the duration of such tasks was unknown before
  bool finished(const Task& task, int model, double seconds);
  /// @param worker  any worker of the model
  /// @returns  the prediction [s]; 0: unknown
  double seconds(const Task& task, int model, int worker) const;

  /// Whether two tasks take equally long on the same worker.
  static bool are_alike(const Task& a, const Task& b);

 private:
  /// Codelet, number of the implementation, model of worker, and the binary logarithm of the tiles' memory.
  using Key = std::tuple<CodeletId, unsigned, int, int>;

  struct Recent {
    bool warm = false;             ///< a task has run before; the first one may include the time to load a library
    std::size_t count = 0;         ///< measurements after the first one
    std::array<double, 5> last{};  ///< five, so that two disturbed measurements do not affect the median
    double median = 0;
  };
  const Backend& backend_;
  bool models_;
  std::map<Key, Recent> measured_;
};

}  // namespace tessera::scheduler
