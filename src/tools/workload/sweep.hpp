// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "workload/result.hpp"

/// Calls in all ways that the library could have chosen, to find out what its choice costs.
namespace tessera::bench {

/// A way to run a call: on the first GPUs, in square tiles of an order.
struct Alternative {
  int gpus = 0;
  Index tile = 0;  ///< 0: as the library chooses, which may then use fewer GPUs
};

/// The numbers of GPUs that are compared: powers of two, and all.
std::vector<int> gpu_counts(int gpus);
/// The library's choice first, then all others.
std::vector<Alternative> alternatives(int gpus);
/// Whether an alternative makes sense for a problem: its tiles are neither larger than the matrices nor too many.
bool suits(const Alternative& alternative, const Problem& problem);

/// The chosen and the fastest way of each call.
class Regrets {
 public:
  /// Takes the results of each call, that of the library's choice first.
  void add(const Result& result);
  /// A table with the time of the choice over that of the fastest.
  std::vector<std::string> lines() const;
  /// An object for each call.
  std::vector<nlohmann::ordered_json> json() const;

 private:
  struct Row {
    Result chosen, best;
    double regret() const { return chosen.timing->median / best.timing->median; }
  };
  std::vector<Row> rows_;
};

}  // namespace tessera::bench
