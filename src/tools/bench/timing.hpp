// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "bench/progress.hpp"
#include "workload/result.hpp"

namespace tessera::bench {

/// Numbers of calls.
struct Repetitions {
  int warmup = 1;  ///< unmeasured calls after the first one
  int repeat = 5;
};

struct TimedCall {
  std::function<void()> run;
  std::function<void()> prepare;  ///< called before each call, not timed; may be empty
  std::function<void()> counted;  ///< called once, before the first measured call; may be empty
};

/// Times one call.
double seconds_of(const TimedCall& call);

/// @pre values is not empty
double median(std::vector<double> values);

Timing measure(const TimedCall& call, const Repetitions& repetitions, Progress& progress);

}  // namespace tessera::bench
