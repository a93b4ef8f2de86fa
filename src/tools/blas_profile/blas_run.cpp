// SPDX-License-Identifier: BSD-3-Clause
#include "blas_profile/blas_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "shared/bad_argument.hpp"

namespace tessera::blas_profile {

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw RuntimeError(fmt::format("the log {} cannot be read: {}", file.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path new_temporary_file() {
  std::error_code error;
  const auto folder = fs::temp_directory_path(error);
  if (error) throw RuntimeError("no folder for temporary files: " + error.message());
  auto name = (folder / "tessera-blas-log-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0)
    throw RuntimeError(fmt::format("cannot create a file in {}: {}", folder.string(), std::strerror(errno)));
  close(file);
  return name;
}

/// Requires a regular file, because the log is read after the program has ended.
void require_writable(const fs::path& file) {
  std::FILE* opened = std::fopen(file.c_str(), "a");
  if (opened == nullptr)
    throw tools::BadArgument("TESSERA_BLAS_LOG", file.string(), "cannot be written: " + std::string(strerror(errno)));
  std::fclose(opened);
  if (!fs::is_regular_file(file)) throw tools::BadArgument("TESSERA_BLAS_LOG", file.string(), "is not a regular file");
}

}  // namespace

fs::path blas_library(const fs::path& executable) {
  const auto beside = executable.parent_path();
  // The first folder is for build trees and bundles, the second for installations.
  const fs::path folders[] = {(beside / "../lib").lexically_normal(),
                              (beside / TESSERA_LIBRARIES_FROM_PROGRAMS).lexically_normal()};
  std::error_code ignored;
  for (const auto& folder : folders)
    for (const char* name :
         {"libtessera_blas.so", "libtessera_blas.so.0"})  // without development files, only the second name exists
      if (fs::exists(folder / name, ignored)) return folder / name;
  auto where = folders[0].string();
  if (folders[1] != folders[0]) where += " nor in " + folders[1].string();
  throw RuntimeError("libtessera_blas.so is not in " + where + ", where this tessera-info expects it");
}

LogFile::LogFile() {
  const char* given = std::getenv("TESSERA_BLAS_LOG");
  temporary_ = given == nullptr || *given == '\0';
  if (temporary_) {
    path_ = new_temporary_file();
    return;
  }
  path_ = fs::absolute(given);  // the program may change its working directory
  require_writable(path_);
  const auto before = read_file(path_);
  bytes_before_ = before.size();
  lines_before_ = static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

LogFile::~LogFile() {
  std::error_code ignored;
  if (temporary_) fs::remove(path_, ignored);
}

Log LogFile::read() const {
  const auto text = read_file(path_);
  if (text.size() < bytes_before_) return read_log(text);  // the program has truncated the file
  return read_log(std::string_view(text).substr(bytes_before_), lines_before_ + 1);
}

int run_blas(std::vector<std::string> words, bool json) {
  BlasReport report;
  report.words = std::move(words);
  try {
    const auto library = blas_library(fs::read_symlink("/proc/self/exe"));
    const LogFile log;
    report.ended = run_under(library, log.path(), report.words);
    report.log = log.read();
  } catch (const CannotStart& error) {
    std::fprintf(stderr, "tessera-info: %s\n", error.what());
    return error.code();
  }
  // The program's output may not end with a newline.
  fmt::print("\n{}", json ? blas_json(report) + "\n" : blas_text(report));
  return report.ended.code();
}

}  // namespace tessera::blas_profile
