// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "bench/progress.hpp"

namespace tessera::bench {

/// Seconds of one call.
struct Timing {
  double first = 0;  ///< the first call, before any other
  double median = 0, best = 0;
};

/// How often something is called.
struct Repetitions {
  int warmup = 1;  ///< after the first call, not counted
  int repeat = 5;
};

struct TimedCall {
  std::function<void()> run;
  std::function<void()> prepare;  ///< before each call, outside of the clock; may be empty
  std::function<void()> counted;  ///< once, when the calls that count begin; may be empty
};

/// Of one call.
double seconds_of(const TimedCall& call);

/// @pre there is at least one
double median(std::vector<double> values);

Timing measure(const TimedCall& call, const Repetitions& repetitions, Progress& progress);

}  // namespace tessera::bench
