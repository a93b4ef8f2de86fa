// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "shared/activity.hpp"
#include "workload/limit_parts.hpp"
#include "workload/routines.hpp"

namespace tessera::bench {

/// Seconds per call.
struct Timing {
  double first = 0;  ///< the first call
  double median = 0, best = 0;
};

/// One measurement.
struct Result {
  const Routine* routine = nullptr;
  Problem problem;
  const char* memory = "";
  std::string library;  ///< tessera, openblas, cublas, cublasxt, cusolver or cusolvermg
  int gpus = 0, cpus = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;  ///< 0: the library has no tiles
  double predicted = 0;                      ///< the plan's prediction [s]; 0: no prediction
  std::string policy, placement;             ///< "" for other libraries
  int repeat = 0;
  std::optional<Timing> timing;             ///< empty: the library lacks the routine
  double limit = 0;                         ///< lower bound [s], from rates measured one after another
  LimitParts parts;                         ///< lower bounds from rates measured under simultaneous load
  std::optional<tools::Activity> activity;  ///< activity in the measured calls; empty for other libraries
  double bytes_min_h2d = 0;
  std::optional<Verdict> check;

  double flops() const { return routine->flops(problem); }
  /// Averages per measured call.
  struct Bytes {
    double h2d = 0, d2h = 0, d2d = 0;
  };
  std::optional<Bytes> bytes() const;
  double rate() const { return flops() / timing->median; }  ///< [flop/s]
  double fraction_of_limit() const { return limit / timing->median; }
  double fraction_of_parts() const { return parts.longest() / timing->median; }

  /// No call is faster than a lower bound, apart from measurement errors. A larger ratio means that the bound was
  /// measured wrongly.
  static constexpr double most_of_a_limit = 1.05;
  bool limit_is_doubtful() const { return fraction_of_limit() > most_of_a_limit; }
  /// A short call may be faster than the rates under simultaneous load allow: the power limit acts only after some
  /// time, and the links are slower while all GPUs compute. But no call exceeds the rates of `limit`, or is shorter
  /// than the chain.
  bool parts_are_doubtful() const {
    return fraction_of_parts() > most_of_a_limit &&
           (limit_is_doubtful() || parts.chain > most_of_a_limit * timing->median);
  }
};

/// The result as one JSON object.
nlohmann::ordered_json to_json(const Result& result);

/// The tile as one size, as rows x columns, or as '-'.
std::string describe_tile(const Result& result);

}  // namespace tessera::bench
