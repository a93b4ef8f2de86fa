// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "blas_profile/blas_log.hpp"

namespace tessera::blas_profile {

/// How a program ended.
struct Ended {
  int status = 0;
  int signal = 0;  ///< the signal that killed it; 0: none
  /// The exit status as a shell reports it.
  int code() const { return signal != 0 ? 128 + signal : status; }
};

/// Everything that `tessera-info --blas` reports.
struct BlasReport {
  std::vector<std::string> words;  ///< the program and its arguments
  Ended ended;
  Log log;
};

/// Totals of one place.
struct InPlace {
  std::uint64_t calls = 0;
  double seconds = 0;  ///< total time of the calls whose time is known
  double flops = 0, bytes = 0;
};

struct Totals {
  InPlace host, devices;
  /// Times on the host and on the devices of the device calls with an estimated host time.
  double estimated_host_seconds = 0, estimated_seconds = 0;
  std::uint64_t not_estimated = 0;  ///< device calls without an estimate

  bool estimated() const { return devices.calls > not_estimated; }
  /// The time gained [s]; negative: lost.
  double gained() const { return estimated_host_seconds - estimated_seconds; }
};

Totals totals(const Log& log);

/// The report as text.
std::string blas_text(const BlasReport& report);

/// The report as one line with a JSON object, without the newline.
std::string blas_json(const BlasReport& report);

}  // namespace tessera::blas_profile
