// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <tessera/error.hpp>

#include "not_copyable.hpp"

namespace tessera::common {

/// A new folder for temporary files. The destructor removes it.
class TemporaryFolder : NotCopyable {
 public:
  /// @param prefix  start of the folder's name
  /// @throws RuntimeError if the folder cannot be created
  explicit TemporaryFolder(const std::string& prefix) {
    auto name = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr)
      throw RuntimeError("cannot create the folder " + name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::common
