// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

/// What the program's own xerbla_ and cblas_xerbla have been told.
struct Report {
  std::string by, name;
  std::int64_t position;
  friend bool operator==(const Report&, const Report&) = default;
};
inline std::vector<Report> reports;

}  // namespace tessera::test
