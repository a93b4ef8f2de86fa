// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "bench/limits.hpp"
#include "bench/options.hpp"
#include "bench/timing.hpp"
#include "tile_size.hpp"

namespace tessera::bench {

/// One measurement.
struct Result {
  const Routine* routine = nullptr;
  Problem problem;
  bool pinned = false;
  std::string library;  ///< tessera, openblas or cublasxt
  int gpus = 0, cpus = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;  ///< 0: the library has no such thing
  std::string policy, placement;             ///< "" for the other libraries
  int repeat = 0;
  std::optional<Timing> timing;  ///< nothing: the library has no such routine
  double limit = 0;              ///< seconds
  struct Bytes {
    double h2d = 0, d2h = 0, d2d = 0;
  };
  std::optional<Bytes> bytes;  ///< of one repetition, on average; unknown for the other libraries
  double bytes_min_h2d = 0;
  std::optional<Verdict> check;

  double flops() const { return routine->flops(problem); }
  double rate() const { return flops() / timing->median; }  ///< [flop/s]
  double fraction_of_limit() const { return limit / timing->median; }
};

/// Writes results as they come: a table for people, JSON lines for programs.
class Report {
 public:
  /// @throws BadArgument if the file for JSON cannot be written
  explicit Report(const Options& options, Progress& progress);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// What was found and measured before anything else, and the table's head.
  void begin(const Options& options, const Machine& machine, const Limits& limits);
  /// @throws RuntimeError if it cannot be written
  void add(const Result& result);
  /// A line of text between or after the rows.
  void note(const std::string& text);

 private:
  struct Column;
  std::vector<Column> columns(const Options& options) const;

  Progress& progress_;
  std::FILE* table_;  ///< standard output, or standard error when the JSON lines take that
  bool json_to_stdout_;
  std::ofstream json_;
  bool in_tera_ = false;
  std::vector<Column> columns_;
};

/// Bytes, seconds and so on to `digits` digits without an exponent.
std::string significant(double value, int digits);

}  // namespace tessera::bench
