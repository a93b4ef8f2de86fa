// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "programs.hpp"

namespace tessera::trace {

/// StarPU's recording of convert_recorder.cpp, made once per test program; empty if StarPU cannot record.
inline const std::string& recorded_trace() {
  static const std::string trace = [] {
    const Scratch scratch;
    const auto ended = run({{TEST_RECORDER},
                            {{"STARPU_FXT_TRACE", "1"},
                             {"STARPU_FXT_PREFIX", scratch.path()},
                             {"STARPU_FXT_SUFFIX", "prof_file"},
                             {"STARPU_WORKERS_NOBIND", "1"}},
                            {},
                            {}});
    if (ended.code != 0 && ended.code != 77) throw RuntimeError("recording has failed: " + ended.output);
    return read_file(scratch / "prof_file_0");
  }();
  return trace;
}

}  // namespace tessera::trace
