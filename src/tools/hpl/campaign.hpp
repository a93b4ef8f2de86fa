// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "hpl/report.hpp"

namespace tessera::hpl {

/// What solves the systems.
struct Solver {
  /// Prepares for a system of order n, not timed. @param wanted  NB of the file @return the columns of a panel
  std::function<Index(Index n, Index wanted)> prepare;
  /// A (n×n, leading dimension n) ← its factors, b ← the solution. @return info
  std::function<Index(Index n, double* A, double* b)> solve;
};

/// Solves every system of the input with every NB, in HPL's order, and reports.
/// @param A  memory for the largest matrix
/// @param b  memory for the longest vector
void solve_all(const Input& input, const Solver& solver, double* A, double* b, Report& report);

}  // namespace tessera::hpl
