// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "trace_test.hpp"

namespace tessera::trace {

/// Records convert_recorder.cpp.
/// @param names  the arguments of the program
/// @return StarPU's recording; empty if StarPU cannot record
inline std::string record(const std::vector<std::string>& names) {
  const Scratch scratch;
  Command command{.words = {TEST_RECORDER},
                  .environment = {{"STARPU_FXT_TRACE", "1"},
                                  {"STARPU_FXT_PREFIX", scratch.path()},
                                  {"STARPU_FXT_SUFFIX", "prof_file"},
                                  {"STARPU_WORKERS_NOBIND", "1"}}};
  command.words.insert(command.words.end(), names.begin(), names.end());
  const auto ended = run_program(command);
  if (ended.status != 0 && ended.status != 77) throw RuntimeError("recording has failed: " + ended.out + ended.err);
  return read_file(scratch / "prof_file_0");
}

/// The recording without arguments, made once per test program.
inline const std::string& recorded_trace() {
  static const std::string trace = record({});
  return trace;
}

}  // namespace tessera::trace
