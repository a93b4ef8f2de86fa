// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace tessera::common {

/// The folder for measurements of this machine: TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera, else ~/.cache/tessera.
/// Empty if none of these variables is set, or if HOME is not a folder.
std::optional<std::filesystem::path> cache_directory();

/// Creates the folder if necessary. @return  why no file can be created in it, as a sentence; "" if files can be
/// created
std::string why_not_writable(const std::filesystem::path& folder);

/// A folder that only this user can enter. The destructor removes it, except in a forked child.
class PrivateFolder {
 public:
  /// @throws RuntimeError if the folder cannot be created in `parent`
  explicit PrivateFolder(const std::filesystem::path& parent);
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;  ///< empty: nothing to remove
  pid_t owner_;
};

}  // namespace tessera::common
