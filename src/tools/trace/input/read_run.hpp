// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "trace/recorded_run.hpp"

namespace tessera::trace {

/// Lets StarPU convert its recording in `folder` (`prof_file_0`) to the files that `read_run` reads. A child process
/// does that, because StarPU ends the process if it cannot read a trace.
/// @return warnings about the trace, as sentences
/// @throws BadArgument if there is no trace; RuntimeError if it is not readable at all, or if a disk is full
std::vector<std::string> convert(const std::filesystem::path& folder, const std::filesystem::path& records);

/// Reads the files made by `convert`, and `folder`/run.json if Tessera recorded the run.
/// @throws RuntimeError if a file has unexpected contents
Run read_run(const std::filesystem::path& folder, const std::filesystem::path& records);

}  // namespace tessera::trace
