// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime.hpp>

#include "counters.hpp"
#include "process_session.hpp"
#include "session.hpp"

namespace tessera {

Statistics statistics() {
  const auto session = detail::session();
  std::vector<unsigned> nodes;
  for (const auto& workers : session->machine().gpu_workers)
    nodes.push_back(starpu_worker_get_memory_node(static_cast<unsigned>(workers.front())));
  return detail::read_counters(nodes);
}

void reset_statistics() {
  const auto session = detail::session();  // starts StarPU, which keeps the counts
  detail::reset_counters();
}

}  // namespace tessera
