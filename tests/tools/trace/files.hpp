// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <tessera/error.hpp>

namespace tessera::trace {

namespace fs = std::filesystem;

/// A folder that goes when this object does.
class Scratch {
 public:
  Scratch() {
    auto name = (fs::temp_directory_path() / "tessera-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw RuntimeError("no folder can be made: " + name);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  bool empty() const { return fs::is_empty(path_); }

 private:
  fs::path path_;
};

inline std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

/// In hand-made files.
inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == text.npos) throw RuntimeError("'" + what + "' is not there");
  return text.replace(at, what.size(), by);
}

/// What an action throws.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tessera::trace
