// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "blas_profile/blas_log.hpp"
#include "blas_profile/blas_report.hpp"

namespace tessera::blas_profile {

/// The library that belongs to the programs in the folder of `executable`.
/// @throws RuntimeError if it is missing
std::filesystem::path blas_library(const std::filesystem::path& executable);

/// The file for the program's log. If TESSERA_BLAS_LOG names one, it is appended to and kept. Otherwise a temporary
/// file is removed with this object.
class LogFile {
 public:
  /// @throws BadArgument if the file named by the user cannot be written
  LogFile();
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Reads what was written since this object was created. Lines are counted from the start of the file.
  Log read() const;

 private:
  std::filesystem::path path_;
  bool temporary_ = false;
  std::size_t bytes_before_ = 0, lines_before_ = 0;
};

/// The program does not exist or is not executable.
class CannotStart : public RuntimeError {
 public:
  CannotStart(const std::string& program, int error);
  int code() const { return code_; }  ///< the exit status as a shell reports it

 private:
  int code_;
};

/// Runs a program under the library and waits for it. Signals from the terminal (Ctrl-C) reach the program directly.
/// Requests to terminate this process are forwarded to the program.
/// @param words  the program, looked up in PATH, and its arguments
/// @throws CannotStart
Ended run_under(const std::filesystem::path& library, const std::filesystem::path& log,
                const std::vector<std::string>& words);

/// tessera-info --blas
/// @return the exit status of the program
int run_blas(std::vector<std::string> words, bool json);

}  // namespace tessera::blas_profile
