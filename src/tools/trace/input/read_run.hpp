// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "trace/run.hpp"

namespace tessera::trace {

/// Lets StarPU convert what it has recorded in `folder` (`prof_file_0`) into what `read_run` reads. StarPU gives up on
/// what it does not understand by ending the process: it works in one of its own.
/// @return what is wrong with the trace if it was converted all the same, in sentences
/// @throws RuntimeError  there is no trace, or it is none of StarPU's, or nothing of it can be read, or a disk is full
std::vector<std::string> convert(const std::filesystem::path& folder, const std::filesystem::path& records);

/// Reads `folder`/run.json, if Tessera has recorded the run, and what `convert` has made.
/// @throws RuntimeError  they are not what they should be
Run read_run(const std::filesystem::path& folder, const std::filesystem::path& records);

}  // namespace tessera::trace
