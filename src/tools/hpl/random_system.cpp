// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/random_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "workload/parallel.hpp"

namespace tessera::hpl {

namespace {

/// Several steps of the sequence at once: X → factor X + increment modulo 2^64.
struct Jump {
  std::uint64_t factor, increment;

  std::uint64_t of(std::uint64_t x) const { return factor * x + increment; }
  /// The jump that consists of `first` followed by this one.
  Jump after(const Jump& first) const { return {factor * first.factor, of(first.increment)}; }
};

constexpr Jump step{6364136223846793005U, 1};
constexpr std::uint64_t seed = 100;

/// X(count), by repeated squaring.
std::uint64_t number(std::uint64_t count) {
  Jump all{1, 0}, power = step;
  for (; count > 0; count /= 2, power = power.after(power))
    if (count % 2 == 1) all = power.after(all);
  return all.of(seed);
}

}  // namespace

void RandomSystem::generate(Index j, Index begin, Index end, double* to) const {
  auto x = number(static_cast<std::uint64_t>(j * n_ + begin) + 1);
  for (Index i = begin; i < end; i++, x = step.of(x)) *to++ = 0.5 - static_cast<double>(x) * 0x1p-64;
}

void RandomSystem::fill(double* A, double* b) const {
  bench::parallel_for(n_, 16, [&](Index begin, Index end) {
    for (Index j = begin; j < end; j++) generate(j, 0, n_, A + j * n_);
  });
  generate(n_, 0, n_, b);
}

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
