// SPDX-License-Identifier: BSD-3-Clause
#include "shared/trace_option.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <tessera/error.hpp>

#include "common/not_copyable.hpp"
#include "shared/child_process.hpp"
#include "shared/exit_code.hpp"

namespace tessera::tools {

namespace fs = std::filesystem;

void require_empty_folder(const std::string& option, const fs::path& folder) {
  if (folder.empty()) throw BadArgument(option, "", "must name a folder");
  if (const char* all = std::getenv("TESSERA_TRACE"); all != nullptr && *all != '\0')
    throw BadArgument(
        fmt::format("{}: cannot be used while TESSERA_TRACE={} records all calls: unset it", option, all));
  std::error_code error;
  if (!fs::exists(folder, error)) {  // an error is reported now, not after all measurements
    fs::create_directories(folder, error);
    if (error) throw BadArgument(option, folder, "cannot be made: " + error.message());
    return;
  }
  if (!fs::is_directory(folder)) throw BadArgument(option, folder, "is a file; it must be a folder");
  const bool empty = fs::is_empty(folder, error);
  if (error) throw BadArgument(option, folder, "cannot be read: " + error.message());
  if (!empty)
    throw BadArgument(option, folder, "must be a new folder or an empty one: existing files are not overwritten");
  if (eaccess(folder.c_str(), W_OK | X_OK) != 0)
    throw BadArgument(option, folder, std::string("cannot be written: ") + std::strerror(errno));
}

fs::path RecordingFolders::next(const std::string& name) {
  if (runs_ <= 1) return folder_;
  const int count = ++named_[name];
  return folder_ / (count == 1 ? name : fmt::format("{}-{}", name, count));
}

namespace {

/// The line of a summary by tessera-trace that says how long the run took; "" if there is none.
std::string line_on_time(const std::string& summary) {
  std::istringstream lines(summary);
  for (std::string line; std::getline(lines, line);)
    if (line.find(span_of_report) != line.npos) return line.substr(line.find_first_not_of(' '));
  return "";
}

/// A file in memory, without a name.
class MemoryFile : common::NotCopyable {
 public:
  MemoryFile() : descriptor_(memfd_create("tessera-trace", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw RuntimeError(std::string("no memory for a file: ") + std::strerror(errno));
  }
  ~MemoryFile() { close(descriptor_); }
  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string all;
    char buffer[4096];
    for (ssize_t count; (count = pread(descriptor_, buffer, sizeof buffer, static_cast<off_t>(all.size()))) > 0;)
      all.append(buffer, static_cast<std::size_t>(count));
    return all;
  }

 private:
  int descriptor_;
};

}  // namespace

ExplainedRecording explain_recording(const fs::path& folder) {
  std::string words[] = {fs::read_symlink("/proc/self/exe").replace_filename("tessera-trace"), folder};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  const MemoryFile summary;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, summary.descriptor(), STDOUT_FILENO);
  pid_t child = 0;
  const int refused = posix_spawn(&child, arguments[0], &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused != 0) throw RuntimeError(words[0] + " cannot be started: " + std::strerror(refused));
  if (!succeeded(wait_for(child)))
    throw RuntimeError("the run was recorded in " + folder.string() + ", but tessera-trace failed to explain it");
  return {folder / "report.html", line_on_time(summary.text())};
}

}  // namespace tessera::tools
