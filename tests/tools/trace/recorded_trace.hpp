// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "trace_test.hpp"

namespace tessera::trace {

/// StarPU's recording of convert_recorder.cpp, made once per test program; empty if StarPU cannot record.
inline const std::string& recorded_trace() {
  static const std::string trace = [] {
    const Scratch scratch;
    const auto ended = run_program({.words = {TEST_RECORDER},
                                    .environment = {{"STARPU_FXT_TRACE", "1"},
                                                    {"STARPU_FXT_PREFIX", scratch.path()},
                                                    {"STARPU_FXT_SUFFIX", "prof_file"},
                                                    {"STARPU_WORKERS_NOBIND", "1"}}});
    if (ended.status != 0 && ended.status != 77) throw RuntimeError("recording has failed: " + ended.out + ended.err);
    return read_file(scratch / "prof_file_0");
  }();
  return trace;
}

}  // namespace tessera::trace
