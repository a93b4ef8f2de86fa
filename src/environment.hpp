// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::detail {

/// Sets an environment variable for as long as this object lives, unless the user has set it: StarPU takes some of its
/// settings from nowhere else.
class TemporaryVariable {
 public:
  TemporaryVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (std::getenv(name_.c_str()) != nullptr) return;
    setenv(name_.c_str(), value.c_str(), 1);
    ours_ = true;
  }
  TemporaryVariable(TemporaryVariable&& other) noexcept : name_(std::move(other.name_)), ours_(other.ours_) {
    other.ours_ = false;
  }
  TemporaryVariable& operator=(TemporaryVariable&&) = delete;
  ~TemporaryVariable() {
    if (ours_) unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  bool ours_ = false;
};

/// Where measurements of this machine are kept: TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera,
/// else ~/.cache/tessera, else a folder for temporary files.
inline std::filesystem::path cache_directory() {
  const auto variable = [](const char* name) {  // null and "" are the same to us
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto dir = variable("TESSERA_CACHE_DIR"); !dir.empty()) return dir;
  if (const auto dir = variable("XDG_CACHE_HOME"); !dir.empty()) return std::filesystem::path(dir) / "tessera";
  if (const auto dir = variable("HOME"); !dir.empty()) return std::filesystem::path(dir) / ".cache" / "tessera";
  return std::filesystem::temp_directory_path() / "tessera";
}

}  // namespace tessera::detail
