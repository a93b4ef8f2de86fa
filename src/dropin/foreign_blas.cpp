// SPDX-License-Identifier: BSD-3-Clause
#include "foreign_blas.hpp"

#include <link.h>

#include <cstddef>
#include <string_view>

namespace tessera::dropin {

namespace {

/// Wheel-building tools put the libraries of PACKAGE into the folder PACKAGE.libs.
bool is_blas_of_a_wheel(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos || slash == 0) return false;
  return path.substr(0, slash).ends_with(".libs") && path.substr(slash + 1).find("blas") != path.npos;
}

}  // namespace

std::string foreign_blas() {
  std::string found;
  const auto look = [](dl_phdr_info* library, std::size_t, void* names) {
    auto& all = *static_cast<std::string*>(names);
    const std::string_view path = library->dlpi_name == nullptr ? "" : library->dlpi_name;
    if (is_blas_of_a_wheel(path)) all.append(all.empty() ? "" : ", ").append(path);
    return 0;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

}  // namespace tessera::dropin
