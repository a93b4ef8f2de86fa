// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

/// What `--trace FOLDER` asks for, in the programs that run routines.
namespace tessera::tools {

/// @throws BadArgument if there is something in the folder: nothing is overwritten; or if TESSERA_TRACE asks for a
/// trace of everything at the same time
void require_empty_folder(const std::string& option, const std::filesystem::path& folder);

/// Where runs are recorded: in `folder` if there is one, else each in a folder of its own there.
class RecordingFolders {
 public:
  RecordingFolders(std::filesystem::path folder, std::size_t runs) : folder_(std::move(folder)), runs_(runs) {}
  /// @param name  of the run; another one of that name gets a number
  std::filesystem::path next(const std::string& name);

 private:
  std::filesystem::path folder_;
  std::size_t runs_;
  std::map<std::string, int> named_;
};

/// Lets tessera-trace, which is where this program is, explain what has been recorded in `folder`.
/// @return the report
/// @throws RuntimeError with what tessera-trace says
std::filesystem::path explain_recording(const std::filesystem::path& folder);

}  // namespace tessera::tools
