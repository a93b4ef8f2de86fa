// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "hpl/report.hpp"

namespace tessera::hpl {

/// The solver of the systems.
struct Solver {
  /// Prepares for a system of order n. Not timed. @param wanted  `panel_for` NB @return  the number of columns per
  /// panel
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
