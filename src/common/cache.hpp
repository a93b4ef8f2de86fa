// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace tessera::detail {

/// Where measurements of this machine are kept: TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera, else ~/.cache/tessera.
/// Nothing if none of these variables is set, or if HOME is no folder.
std::optional<std::filesystem::path> cache_directory();

/// A folder that only this user can enter. It is removed with this object, unless by a forked child.
class PrivateFolder {
 public:
  /// @throws RuntimeError if none can be made in `parent`
  explicit PrivateFolder(const std::filesystem::path& parent);
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;  ///< empty: nothing to remove
  pid_t owner_;
};

}  // namespace tessera::detail
