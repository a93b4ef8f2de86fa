// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "common/temporary_folder.hpp"

namespace tessera::test {

/// A temporary folder for the files of a test.
struct Scratch : common::TemporaryFolder {
  Scratch() : TemporaryFolder("tessera-test") {}
};

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// Replaces the first occurrence of `what`, which must exist.
inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == text.npos) throw std::invalid_argument("'" + what + "' is not in the text");
  return text.replace(at, what.size(), by);
}

}  // namespace tessera::test
