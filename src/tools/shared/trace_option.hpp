// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

/// The option `--trace FOLDER` of the programs that run routines.
namespace tessera::tools {

/// Creates the folder if necessary.
/// @throws BadArgument if it cannot be created or written; if it is not empty, since nothing is overwritten; or if
///         TESSERA_TRACE is set, which would record every call
void require_empty_folder(const std::string& option, const std::filesystem::path& folder);

/// The folders of the recorded runs: `folder` itself for a single run, otherwise one subfolder per run.
class RecordingFolders {
 public:
  RecordingFolders(std::filesystem::path folder, std::size_t runs) : folder_(std::move(folder)), runs_(runs) {}
  /// @param name  name of the run; a number is appended if the name is taken
  std::filesystem::path next(const std::string& name);

 private:
  std::filesystem::path folder_;
  std::size_t runs_;
  std::map<std::string, int> named_;
};

/// What reports call the time that they divide: from the first submission or, if that is earlier, the first request for
/// a tile, until the last task or copy has ended. A call as its program sees it also takes the time before and after.
inline constexpr const char* span_of_report = "from the first submission to the end";

struct ExplainedRecording {
  std::filesystem::path page;
  std::string time;  ///< in words of the report: "45 ms from the first submission to the end, 196.8 TFLOP/s"
};

/// Runs the tessera-trace installed next to this program on the recording in `folder`.
/// @throws RuntimeError if tessera-trace cannot be started or fails
ExplainedRecording explain_recording(const std::filesystem::path& folder);

}  // namespace tessera::tools
