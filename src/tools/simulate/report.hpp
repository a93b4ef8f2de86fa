// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shared/json_lines.hpp"
#include "shared/table.hpp"
#include "simulate/simulation.hpp"
#include "workload/result.hpp"
#include "workload/sweep.hpp"

namespace tessera::simulate {

// Shared parts of the reports on calls and on programs.

/// The machine, in one line.
std::string describe_machine(const simulation::Machine& machine);
/// The library that contains each policy, in one line.
std::string describe_policies(const Options& options);
/// The statistics of each GPU, of the links and of the policy, as lines of text.
std::vector<std::string> describe_gpus(const Outcome& outcome);
/// The bytes and the computing time of each GPU.
nlohmann::ordered_json gpus_json(const Outcome& outcome);

/// Writes each outcome as soon as it exists: a table for people, JSON lines for programs.
class Report {
 public:
  /// @throws BadArgument if the file for JSON cannot be written
  explicit Report(const Options& options);

  /// Writes the machine and the head of the table.
  void begin();
  /// @throws RuntimeError if it cannot be written
  void add(const Run& run, const Outcome& outcome);
  /// Writes the explanation of a plan instead of an outcome.
  void explain(const Outcome& outcome);
  /// Writes how much time the library's choices cost, compared with the best way found by the sweep. Call this last.
  void end();
  /// Writes a line of text between or after the rows.
  void note(const std::string& text) const;

 private:
  struct Row {
    bench::Result result;
    const Outcome& outcome;
    double peak;  ///< peak rate of all GPUs, or of all cores [flop/s]
  };
  std::vector<tools::Column<Row>> columns() const;
  Row row(const Run& run, const Outcome& outcome) const;
  double peak(const Run& run) const;
  nlohmann::ordered_json json(const Row& row) const;

  const Options& options_;
  tools::JsonLines json_;
  std::vector<tools::Column<Row>> columns_;
  bench::Regrets regrets_;
};

}  // namespace tessera::simulate
