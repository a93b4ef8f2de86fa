// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <utility>

#include "dump.hpp"

namespace tessera::sinks {

Exchange::~Exchange() {
  for (auto* tile : received_)
    if (!temporaries_.contains(tile)) starpu_data_invalidate_submit(tile);
}

void Exchange::limit(std::size_t bytes, std::function<void(std::span<const Access>)> order) {
  most_ = bytes, order_ = std::move(order);
}

void Exchange::wait_for_memory(starpu_data_handle_t tile) {
  const auto bytes = starpu_data_get_size(tile);
  std::vector<Access> accesses;
  while (held_ + bytes > most_ && !forgotten_.empty()) {
    accesses.push_back({forgotten_.front(), STARPU_W});  // W, because the copy has no value any more
    held_ -= starpu_data_get_size(forgotten_.front());
    forgotten_.pop_front();
  }
  held_ += bytes;
  if (accesses.empty()) return;
  accesses.push_back({tile, STARPU_W});
  order_(accesses);
}

bool Exchange::bring(std::span<const Access> accesses, int priority) {
  const int me = processes_->rank();
  int runner = me;
  for (const auto& access : accesses)
    if ((access.mode & STARPU_W) != 0) runner = processes_->owner(access.handle);
  for (const auto& access : accesses) {
    auto* const tile = access.handle;
    if ((access.mode & STARPU_W) != 0) {  // copies become stale
      if (runner == me) sent_.erase(tile);
      else if (!received_.empty()) received_.erase(tile);
      continue;
    }
    const int owner = processes_->owner(tile);
    if (owner == runner || owner == tile::Processes::every_process) continue;
    if (runner == me) receive(tile, priority);
    else if (owner == me) send(tile, runner, priority);
  }
  return runner == me;
}

void Exchange::send(starpu_data_handle_t tile, int to, int priority) {
  auto& sent = sent_[tile];
  const auto place = static_cast<std::size_t>(to);
  if (sent.size() <= place) sent.resize(place + 1);
  if (sent[place]) return;
  sent[place] = true;
  if (auto* const dump = Dump::active()) dump->send(tile, to, priority);
  processes_->send(tile, to, priority);
}

void Exchange::receive(starpu_data_handle_t tile, int priority) {
  if (!received_.insert(tile).second) return;
  if (is_limited(tile)) wait_for_memory(tile);
  if (auto* const dump = Dump::active()) dump->receive(tile, priority);
  processes_->receive(tile, priority);
}

void Exchange::forget(starpu_data_handle_t tile) {
  sent_.erase(tile);
  if (received_.erase(tile) == 0) return;
  starpu_data_invalidate_submit(tile);
  if (is_limited(tile)) forgotten_.push_back(tile);
}

void Exchange::give_to_all(starpu_data_handle_t tile, int processes, int priority) {
  const int me = processes_->rank();
  if (!is_mine(tile)) receive(tile, priority);
  else
    for (int other = 0; other < processes; other++)
      if (other != me) send(tile, other, priority);
  processes_->keep_everywhere(tile);
}

void Exchange::assign(starpu_data_handle_t temporary, starpu_data_handle_t owned_like) {
  processes_->assign(temporary, processes_->owner(owned_like));
  temporaries_.insert(temporary);
  received_.erase(temporary);  // StarPU reuses handles
  sent_.erase(temporary);
}

}  // namespace tessera::sinks
