// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/input/paje.hpp"
#include "trace/input/run_json.hpp"
#include "trace/run.hpp"

/// Texts about a recorded run.
namespace tessera::trace {

/// "gemm, add: 240 tasks on 4 GPUs"
std::string title_of(const Run& run);

/// "4 GPUs, 1 CPU worker"
std::string machine_of(const Run& run);

/// Reasons why the report is incomplete or inexact, as sentences.
/// @param folder    the folder of the recording
/// @param unended   tasks without a recorded end
std::vector<std::string> warnings_of(const std::filesystem::path& folder, const PajeTrace& trace,
                                     const RunJson& run_json, std::size_t unended);

}  // namespace tessera::trace
