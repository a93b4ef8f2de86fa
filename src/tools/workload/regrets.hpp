// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workload/result.hpp"

/// Runs calls in every way that the library could have chosen, to find out what its choice costs.
namespace tessera::bench {

/// A way to run a call: on this number of GPUs, counted from the first, in square tiles of this size.
struct Alternative {
  int gpus = 0;
  Index tile = 0;  ///< 0: the library chooses, and may use fewer GPUs
};

/// Whether an alternative is the library's choice.
/// @param gpus  as passed to `alternatives`
bool is_choice(const Alternative& alternative, int gpus);
/// The numbers of GPUs that are compared: powers of two, and all.
std::vector<int> gpu_counts(int gpus);
/// The alternatives, starting with the library's choice.
std::vector<Alternative> alternatives(int gpus);
/// Whether an alternative makes sense for a problem: its tiles are neither larger than the matrices nor too many.
bool suits(const Alternative& alternative, const Problem& problem);

/// Compares the chosen way of each call with the fastest. Times of wrong results do not count.
class Regrets {
 public:
  /// @param gpus  as passed to `alternatives`
  explicit Regrets(int gpus) : gpus_(gpus) {}

  /// Adds a result. Of each call, the result of the library's choice must come first; without it, the others do not
  /// count.
  /// @param way  how the call was run
  void add(const Result& result, const Alternative& way);
  /// A table of the ratios between the chosen and the fastest time.
  std::vector<std::string> lines() const;
  /// An object for each call.
  std::vector<nlohmann::ordered_json> json() const;

 private:
  struct Row {
    Result chosen;
    std::optional<Result> best;  ///< empty: all results are wrong
    /// Empty if the chosen result is wrong.
    std::optional<double> regret() const;
  };
  int gpus_;
  std::vector<Row> rows_;
};

}  // namespace tessera::bench
