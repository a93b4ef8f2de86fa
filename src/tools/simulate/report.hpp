// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shared/json_lines.hpp"
#include "simulate/simulation.hpp"
#include "workload/result.hpp"

namespace tessera::simulate {

/// Writes outcomes as they come: a table for people, JSON lines for programs.
class Report {
 public:
  /// @throws BadArgument if the file for JSON cannot be written
  explicit Report(const Options& options);

  /// What the machine can do, and the table's head.
  void begin();
  /// @throws RuntimeError if it cannot be written
  void add(const Run& run, const Outcome& outcome);
  /// A line of text between or after the rows.
  void note(const std::string& text) const;

 private:
  struct Row {
    bench::Result result;
    const Outcome& outcome;
    double peak;  ///< of the GPUs, or cores, together [flop/s]
  };
  struct Column {
    std::string head;
    int width;  ///< negative: text, to the left
    std::function<std::string(const Row&)> cell;
  };
  std::vector<Column> columns() const;
  Row row(const Run& run, const Outcome& outcome) const;
  double peak(const Run& run) const;
  nlohmann::ordered_json json(const Row& row) const;

  const Options& options_;
  tools::JsonLines json_;
  std::vector<Column> columns_;
};

}  // namespace tessera::simulate
