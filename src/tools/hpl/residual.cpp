// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/residual.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "workload/parallel.hpp"

namespace tessera::hpl {

namespace {

/// Number of rows that are checked together. Three vectors of this length stay in a core's L1 cache.
constexpr Index rows_together = 1024;

/// The largest magnitude, or NaN if there is one.
double norm(const double* values, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; i++) {
    const double size = std::abs(values[i]);
    if (!(size <= largest) && !std::isnan(largest)) largest = size;
  }
  return largest;
}

}  // namespace

double scaled_residual(const RandomSystem& system, const double* x) {
  const Index n = system.order();
  const auto vector = [](Index size) { return std::vector<double>(static_cast<std::size_t>(size)); };
  auto b = vector(n), difference = vector(n), row_sums = vector(n);
  system.generate(n, 0, n, b.data());
  bench::parallel_for((n + rows_together - 1) / rows_together, 1, [&](Index first, Index last) {
    auto column = vector(rows_together);
    for (Index begin = first * rows_together; begin < std::min(n, last * rows_together); begin += rows_together) {
      const Index end = std::min(n, begin + rows_together);
      double* const d = difference.data() + begin;
      double* const sums = row_sums.data() + begin;
      std::copy_n(b.data() + begin, end - begin, d);
      for (Index j = 0; j < n; j++) {
        system.generate(j, begin, end, column.data());
        const double xj = x[j];
        for (Index i = 0; i < end - begin; i++) {
          const double a = column[static_cast<std::size_t>(i)];
          d[i] -= a * xj;
          sums[i] += std::abs(a);
        }
      }
    }
  });
  const double scale = norm(row_sums.data(), n) * norm(x, n) + norm(b.data(), n);
  return norm(difference.data(), n) / (0x1p-53 * scale * static_cast<double>(n));
}

}  // namespace tessera::hpl
