// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/random_system.hpp"

#include <cstdint>

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

}  // namespace tessera::hpl
