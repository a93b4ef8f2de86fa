// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

/// What `--trace FOLDER` asks for, in the programs that run routines.
namespace tessera::tools {

/// @throws BadArgument if there is something in the folder: nothing is overwritten
void require_empty_folder(const std::string& option, const std::filesystem::path& folder);

/// Where one of `runs` is recorded: in `folder`, or if there are several, in one of their own there.
std::filesystem::path recording_folder(const std::filesystem::path& folder, std::size_t runs, const std::string& name);

/// Lets tessera-trace, which is where this program is, explain what has been recorded in `folder`.
/// @return the report
/// @throws RuntimeError with what tessera-trace says
std::filesystem::path explain_recording(const std::filesystem::path& folder);

}  // namespace tessera::tools
