// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "blas_log.hpp"
#include "blas_report.hpp"

namespace tessera::info {

/// The library for the programs that lie where `executable` does.
/// @throws RuntimeError if it is not there
std::filesystem::path blas_library(const std::filesystem::path& executable);

/// Where the program writes its log: what TESSERA_BLAS_LOG names, which grows and stays; else a file that goes when
/// this object does.
class LogFile {
 public:
  /// @throws BadArgument if what the user named cannot be written
  LogFile();
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// What has been written to it since this object was made. Lines are counted from the start of the file.
  Log read() const;

 private:
  std::filesystem::path path_;
  bool temporary_ = false;
  std::size_t bytes_before_ = 0, lines_before_ = 0;
};

/// The program is not there, or is none.
class CannotStart : public RuntimeError {
 public:
  CannotStart(const std::string& program, int error);
  int code() const { return code_; }  ///< as a shell has it

 private:
  int code_;
};

/// Runs a program under the library and waits for it. What is typed at the terminal (Ctrl-C) is for the program, and
/// so is what asks us to end: it gets that from us.
/// @param words  the program, looked for in PATH, and its arguments
/// @throws CannotStart
Ended run_under(const std::filesystem::path& library, const std::filesystem::path& log,
                const std::vector<std::string>& words);

/// tessera-info --blas
/// @return what the program returned
int run_blas(std::vector<std::string> words, bool json);

}  // namespace tessera::info
