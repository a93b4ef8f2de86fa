// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

namespace tessera::unroll {

Exchange::~Exchange() {
  for (auto* tile : received_)
    if (!temporaries_.contains(tile)) starpu_data_invalidate_submit(tile);
}

bool Exchange::bring(std::span<const Access> accesses, int priority) {
  const int me = processes_->rank();
  int runner = me;
  for (const auto& access : accesses)
    if ((access.mode & STARPU_W) != 0) runner = processes_->owner(access.handle);
  for (const auto& [tile, mode] : accesses) {
    if ((mode & STARPU_W) != 0) {  // copies are stale
      if (runner == me) sent_.erase(tile);
      else if (!received_.empty()) received_.erase(tile);
      continue;
    }
    const int owner = processes_->owner(tile);
    if (owner == runner) continue;
    if (runner == me) {
      if (received_.insert(tile).second) processes_->receive(tile, priority);
    } else if (owner == me) {
      auto& to = sent_[tile];
      if (to.size() <= static_cast<std::size_t>(runner)) to.resize(static_cast<std::size_t>(runner) + 1);
      if (to[static_cast<std::size_t>(runner)]) continue;
      to[static_cast<std::size_t>(runner)] = true;
      processes_->send(tile, runner, priority);
    }
  }
  return runner == me;
}

void Exchange::assign(starpu_data_handle_t temporary, starpu_data_handle_t owned_like) {
  processes_->assign(temporary, processes_->owner(owned_like));
  temporaries_.insert(temporary);
  received_.erase(temporary);  // StarPU reuses handles
  sent_.erase(temporary);
}

}  // namespace tessera::unroll
