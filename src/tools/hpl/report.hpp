// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "hpl/input.hpp"

namespace tessera::hpl {

/// A solved system.
struct Solved {
  Index n = 0;
  Index asked = 0;      ///< NB in the file
  Index panel = 0;      ///< columns of a panel
  double seconds = 0;   ///< time of factorization and solve
  Index info = 0;       ///< info of gesv
  double residual = 0;  ///< scaled; unset if nothing is checked
  int p = 1, q = 1;     ///< the grid of processes

  double gigaflops() const;  ///< as HPL counts: 2/3 n³ + 3/2 n² flops
};

using Output = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
/// @throws RuntimeError if the file cannot be written
Output open_output(const Input& input);

/// Writes HPL's table and residual checks in HPL's format, and counts the checks.
class Report {
 public:
  /// @param output  stays open; the caller closes it
  Report(std::FILE* output, double threshold) : output_(output), threshold_(threshold) {}

  bool checks() const { return threshold_ > 0; }
  /// @param ignored  parameters of the file
  void begin(const Input& input, const std::string& machine, const char* ignored = ignored_parameters);
  void add(const Solved& solved);
  /// @throws RuntimeError if some output could not be written
  void end();

  /// Success, or CheckFailed if a residual reaches the threshold or a matrix was singular.
  int exit_code() const;

 private:
  std::FILE* output_;
  double threshold_;
  int passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace tessera::hpl
