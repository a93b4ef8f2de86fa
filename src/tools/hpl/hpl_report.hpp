// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "hpl/hpl_input.hpp"

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

/// The solver of the systems.
struct Solver {
  /// Prepares for a system of order n. Not timed.
  /// @param wanted  the panel width to request: `panel_for(n, NB)`
  /// @return  the panel width that will be used [columns]
  std::function<Index(Index n, Index wanted)> prepare;
  /// Overwrites A (n×n, leading dimension n) with its factors and b with the solution. @return info
  std::function<Index(Index n, double* A, double* b)> solve;
};

/// The panel width to request for a file's NB: NB, but at least n/1024, because the number of tasks grows with the
/// square of the number of panels. 0 leaves the choice to the library.
Index panel_for(Index n, Index nb);

/// Solves every system of the input with every NB, in HPL's order, and reports.
/// @param A  memory for the largest matrix
/// @param b  memory for the longest vector
void solve_all(const Input& input, const Solver& solver, double* A, double* b, Report& report);

}  // namespace tessera::hpl
