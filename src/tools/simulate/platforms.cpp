// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/variables.hpp"
#include "shared/bad_argument.hpp"

namespace tessera::simulate {

namespace {

namespace fs = std::filesystem;
using tools::BadArgument;

/// The names of the machines in a folder.
std::string known_platforms(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The folder of the described machines: the value of TESSERA_PLATFORMS; otherwise the folder in this program's
/// installation; otherwise the one in the source tree.
fs::path platforms_folder() {
  if (const auto folder = detail::text_of(detail::variables::platforms); !folder.empty()) return folder;
  const auto program = fs::read_symlink("/proc/self/exe").parent_path();
  auto installed = (program / TESSERA_INSTALLED_PLATFORMS).lexically_normal();
  if (std::error_code error; fs::is_directory(installed, error)) return installed;
  return (program / TESSERA_SOURCE_PLATFORMS).lexically_normal();
}

}  // namespace

std::filesystem::path find_platform(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    if (!fs::is_regular_file(name)) throw BadArgument("--platform", name, "is not a file");
    return fs::absolute(name);
  }
  const auto platforms = platforms_folder();
  if (auto file = platforms / (name + ".json"); fs::is_regular_file(file)) return file;
  throw BadArgument(
      "--platform", name,
      fmt::format("is not a machine in {}; known machines: {}", platforms.string(), known_platforms(platforms)));
}

}  // namespace tessera::simulate
