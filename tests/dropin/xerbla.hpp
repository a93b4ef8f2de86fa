// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

/// A call of the program's own xerbla_ or cblas_xerbla.
struct Report {
  std::string by, name;
  std::int64_t position;
  friend bool operator==(const Report&, const Report&) = default;
};
inline std::vector<Report> reports;

}  // namespace tessera::test
