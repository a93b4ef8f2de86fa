// SPDX-License-Identifier: BSD-3-Clause
#include "cache.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <tessera/error.hpp>

namespace tessera::common {

namespace fs = std::filesystem;

std::optional<fs::path> cache_directory() {
  const auto in = [](const char* variable, const char* below) -> std::optional<fs::path> {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') return {};
    std::error_code error;
    const auto whole = fs::absolute(value, error);  // the program may change its working directory
    return (error ? fs::path(value) : whole) / below;
  };
  if (const auto given = in("TESSERA_CACHE_DIR", "")) return given;
  if (const auto given = in("XDG_CACHE_HOME", "tessera")) return given;
  const auto home = in("HOME", "");
  std::error_code error;
  if (!home || !fs::is_directory(*home, error)) return {};  // do not create the user's home
  return *home / ".cache" / "tessera";
}

std::string why_not_writable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return folder.string() + " cannot be made: " + error.message();
  if (eaccess(folder.c_str(), W_OK | X_OK) != 0) return folder.string() + " cannot be written: " + std::strerror(errno);
  return "";
}

PrivateFolder::PrivateFolder(const fs::path& parent) : owner_(getpid()) {
  auto name = (parent / "tessera-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw RuntimeError("cannot create a folder in " + parent.string() + ": " + std::strerror(errno));
  path_ = name;
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), owner_(other.owner_) {}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // if the folder cannot be removed, it stays
  if (!path_.empty() && owner_ == getpid()) fs::remove_all(path_, ignored);
}

}  // namespace tessera::common
