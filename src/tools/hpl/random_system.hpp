// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

namespace tessera::hpl {

/// The random system A x = b that HPL 2 solves. The columns of the n×(n+1) matrix [A b] are consecutive parts of one
/// sequence of numbers in (-0.5, 0.5], X(k+1) = 6364136223846793005 X(k) + 1 modulo 2^64 from X(0) = 100. Any thread
/// can generate any part independently.
class RandomSystem {
 public:
  explicit RandomSystem(Index n) : n_(n) {}
  Index order() const noexcept { return n_; }

  /// Writes rows [begin, end) of column j of [A b] to `to`; column n is b.
  void generate(Index j, Index begin, Index end, double* to) const;

  /// Writes A (n×n, leading dimension n) and b (n) on all cores.
  void fill(double* A, double* b) const;

 private:
  Index n_;
};

/// HPL's scaled residual of a solution x (n numbers): ‖A x − b‖ / (u (‖A‖ ‖x‖ + ‖b‖) n) with maximum norms and u =
/// 2^-53. NaN if x contains NaN. All cores regenerate A in blocks of rows, so this takes 2n² flops, and memory for a
/// few vectors.
double scaled_residual(const RandomSystem& system, const double* x);

}  // namespace tessera::hpl
