// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "shared/json_lines.hpp"
#include "shared/table.hpp"
#include "simulate/simulation.hpp"

namespace tessera::simulate {

/// Writes the outcome of each run of a program, like `Report` for calls of the library.
class ProgramReport {
 public:
  /// @throws BadArgument if the file for JSON cannot be written
  explicit ProgramReport(const Options& options);

  /// Writes the machine and the head of the table.
  void begin();
  /// @throws RuntimeError if it cannot be written
  void add(const Run& run, const Outcome& outcome);

 private:
  struct Row {
    const Run& run;
    const Outcome& outcome;
  };
  nlohmann::ordered_json json(const Row& row) const;

  const Options& options_;
  tools::JsonLines json_;
  std::vector<tools::Column<Row>> columns_;
};

}  // namespace tessera::simulate
