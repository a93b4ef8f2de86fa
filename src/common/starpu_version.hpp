// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <string>

namespace tessera::common {

/// The version of the StarPU library, for example "1.4.7". StarPU need not run.
inline std::string starpu_version_text() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace tessera::common
