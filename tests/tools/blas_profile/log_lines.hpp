// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "blas_profile/blas_log.hpp"

/// Logs in the format of libtessera_blas.
namespace tessera::blas_profile {

inline const std::string octave_header =
    R"({"process": 4711, "program": "octave-cli-7.3.0", "host_blas": "/usr/lib/libopenblas.so.0", )"
    R"("devices": "4 NVIDIA H200, 1 CPU worker", "seconds": 12.3})"
    "\n";
inline const std::string octave_large =
    R"({"process": 4711, "routine": "dgemm", "m": 3000, "n": 2000, "k": 1000, "place": "devices", "calls": 10, )"
    R"("seconds": 0.5, "flops": 1.2e11, "bytes": 1.1e8, "host_seconds": 2.5})"
    "\n";
inline const std::string octave_small =
    R"({"process": 4711, "routine": "dsyrk", "n": 30, "k": 20, "place": "host", "calls": 1000, "seconds": 0.75, )"
    R"("flops": 1.9e7, "bytes": 8.4e6, "host_seconds": 0.75})"
    "\n";
inline const std::string octave = octave_header + octave_large + octave_small;

/// A log of one process.
inline Log log_of(std::vector<Calls> calls) {
  Log log;
  log.processes.push_back({.id = 1,
                           .program = "solver",
                           .host_blas = "libopenblas.so.0",
                           .devices = "1 NVIDIA H100",
                           .trouble = "",
                           .foreign = "",
                           .seconds = 1,
                           .calls = std::move(calls)});
  return log;
}

}  // namespace tessera::blas_profile
