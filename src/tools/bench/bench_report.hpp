// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "bench/bench_options.hpp"
#include "bench/limits.hpp"
#include "shared/formatting.hpp"
#include "shared/json_lines.hpp"
#include "workload/regrets.hpp"

namespace tessera::bench {

/// A rate in flop/s, with its unit.
std::string say_rate(double rate);

/// Writes each result as soon as it exists: a table for people, JSON lines for programs.
class Report {
 public:
  /// @throws BadArgument if the file for JSON cannot be written
  explicit Report(const Options& options, Progress& progress);

  /// Writes the machine, its limits and the head of the table.
  void begin(const Options& options, const Machine& machine, const Limits& limits);
  /// @throws RuntimeError if it cannot be written
  void add(const Result& result);
  /// Writes how much time the library's choices cost, compared with the best way found by the sweep.
  void end(const Regrets& regrets);
  /// Writes a line of text between or after the rows.
  void note(const std::string& text);

 private:
  std::vector<tools::Column<Result>> columns(const Options& options) const;

  Progress& progress_;
  tools::JsonLines json_;
  bool statistics_;
  bool in_tera_ = false;
  std::vector<tools::Column<Result>> columns_;
};

}  // namespace tessera::bench
