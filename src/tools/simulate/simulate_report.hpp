// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shared/formatting.hpp"
#include "shared/json_lines.hpp"
#include "simulate/simulation.hpp"
#include "workload/regrets.hpp"
#include "workload/result.hpp"

namespace tessera::simulate {

/// Writes each outcome as soon as it exists: a table for people, JSON lines for programs.
class Report {
 public:
  /// @throws BadArgument if the file for JSON cannot be written
  explicit Report(const Options& options) : options_(options), json_(options.json), regrets_(options.gpus.front()) {}

  /// Writes the machine and the head of the table.
  void begin();
  /// @throws RuntimeError if it cannot be written
  void add(const Run& run, const Outcome& outcome);
  /// Writes the explanation of a plan instead of an outcome.
  void explain(const Outcome& outcome);
  /// Writes how much time the library's choices cost, compared with the best way found by the sweep. Call this last.
  void end();
  /// Writes a line of text between or after the rows.
  void note(const std::string& text) const { json_.note(text); }

 private:
  struct Row {
    const Run& run;
    const Outcome& outcome;
    double peak = 0;            ///< peak rate of all GPUs, or of all cores [flop/s]
    bench::Result result = {};  ///< of a call
  };
  std::vector<tools::Column<Row>> columns_of_calls() const;
  std::vector<tools::Column<Row>> columns_of_programs() const;
  double peak(const Run& run) const;
  bench::Result result(const Run& run, const Outcome& outcome, double peak) const;
  nlohmann::ordered_json json(const Row& row) const;

  bool reports_calls() const { return options_.program.empty(); }

  const Options& options_;
  tools::JsonLines json_;
  std::vector<tools::Column<Row>> columns_;
  bench::Regrets regrets_;
};

}  // namespace tessera::simulate
