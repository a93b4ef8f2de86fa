// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
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
  /// @returns  the number of measurements of such tasks
  std::size_t finished(const Task& task, int model, double seconds);
  /// @param worker  any worker of the model
  /// @returns  the prediction [s]; 0: unknown
  double seconds(const Task& task, int model, int worker) const;
  /// The duration of the first such task, which may include the time to load a library [s]; 0: none has run.
  double first(const Task& task, int model, int worker) const;
  /// The duration at the lowest rate that has been measured on this model of worker for any task with at least a 64th
  /// of the arithmetic [s]; 0: none has been measured. Smaller tasks take as long as their overheads.
  double at_lowest_rate(const Task& task, int model) const;
  /// Notes that such a task ends later than its worker, so that it cannot be measured.
  void outlived(const Task& task) { unmeasurable_.insert(task.codelet); }
  bool is_measurable(const Task& task) const { return !unmeasurable_.contains(task.codelet); }

  /// Whether two tasks take equally long on the same worker.
  static bool are_alike(const Task& a, const Task& b);

 private:
  /// Codelet, number of the implementation, model of worker, and the binary logarithm of the tiles' memory.
  using Key = std::tuple<CodeletId, unsigned, int, int>;

  struct Recent {
    bool warm = false;             ///< a task has run before; the first one may include the time to load a library
    double first = 0;              ///< duration of the first task
    double flops = 0;              ///< of the last task
    std::size_t count = 0;         ///< measurements after the first one
    std::array<double, 5> last{};  ///< five, so that two disturbed measurements do not affect the median
    double median = 0;
  };
  std::optional<Key> key_of(const Task& task, int model, int worker) const;

  const Backend& backend_;
  bool models_;
  std::map<Key, Recent> measured_;
  std::set<CodeletId> unmeasurable_;
};

}  // namespace tessera::scheduler
