// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime.hpp>

#include "counters.hpp"
#include "process_session.hpp"
#include "session.hpp"

namespace tessera {

Statistics statistics() {
  const auto session = detail::session();
  return detail::read_counters(session->machine().gpus);
}

void reset_statistics() {
  const auto session = detail::session();  // starts StarPU, which has the counts
  detail::reset_counters();
}

}  // namespace tessera
