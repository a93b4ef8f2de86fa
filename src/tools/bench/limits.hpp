// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <utility>

#include "bench/machine.hpp"
#include "bench/progress.hpp"
#include "workload/routines.hpp"

namespace tessera::bench {

/// What the machine can do at most, all its devices at once, measured in this run: machines of one kind differ by
/// several percent, so a rate from elsewhere would say nothing.
class Limits {
 public:
  /// @param cpus  cores that compute where there are no GPUs
  /// @pre   no Runtime lives: nothing else uses the devices
  Limits(const Machine& machine, int cpus, Progress& progress) : machine_(machine), cpus_(cpus), progress_(progress) {}

  /// Measures what `seconds` will need: products in core of size n or less, and the links of the GPUs.
  void measure(char type, int gpus, Index n);

  /// The floor of a call: the longest of the arithmetic, of what must enter the GPUs, and of what must leave them.
  double seconds(const Routine& routine, const Problem& problem, int gpus) const;

  /// All devices together [flop/s]: the GPUs, or the cores where gpus is 0.
  double rate(char type, int gpus) const { return rates_.at({gpus, type}); }
  /// Host to GPUs and back, all links together [bytes/s].
  std::pair<double, double> links(int gpus) const { return links_.at(gpus); }

 private:
  const Machine& machine_;
  int cpus_;
  Progress& progress_;
  std::map<std::pair<int, char>, double> rates_;
  std::map<int, std::pair<double, double>> links_;
};

}  // namespace tessera::bench
