// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <thread>

#include "control_groups.hpp"
#include "machine_rates.hpp"
#include "topology.hpp"

namespace tessera::detail {

int core_count() {
  const double cores = std::min<double>(Topology().allowed_cores(), ControlGroups::of_system().processors());
  return std::max(1, static_cast<int>(cores));
}

int granted_cores() {
  return ControlGroups::of_system().processors() < std::thread::hardware_concurrency() ? core_count() : -1;
}

}  // namespace tessera::detail
