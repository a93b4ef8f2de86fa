// SPDX-License-Identifier: BSD-3-Clause
#include "free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "control_groups.hpp"

namespace tessera::detail {

double free_memory() {
  double kib = std::numeric_limits<double>::infinity();
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (word == "MemAvailable:") {
      file >> kib;
      break;
    }
  return std::min(kib * 1024, ControlGroups::of_system().free_memory());
}

}  // namespace tessera::detail
