// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "blas_log.hpp"

namespace tessera::info {

/// How a program ended.
struct Ended {
  int status = 0;
  int signal = 0;  ///< that killed it; 0: none did
  /// As a shell has it.
  int code() const { return signal != 0 ? 128 + signal : status; }
};

/// What `tessera-info --blas` says.
struct BlasReport {
  std::vector<std::string> words;  ///< the program and its arguments
  Ended ended;
  Log log;
};

/// Sums of what was done in one place.
struct InPlace {
  std::uint64_t calls = 0;
  double seconds = 0;  ///< of those of which it is known
  double flops = 0, bytes = 0;
};

struct Totals {
  InPlace host, devices;
  /// Calls on the devices of which it is known what they would have taken on the host: time there and here.
  double estimated_host_seconds = 0, estimated_seconds = 0;
  std::uint64_t not_estimated = 0;  ///< other calls on the devices

  bool estimated() const { return devices.calls > not_estimated; }
  /// Less than nothing: lost.
  double gained() const { return estimated_host_seconds - estimated_seconds; }
};

Totals totals(const Log& log);

/// Lines for people.
std::string blas_text(const BlasReport& report);

/// One JSON object in one line, without its end.
std::string blas_json(const BlasReport& report);

}  // namespace tessera::info
