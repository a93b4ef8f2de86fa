// SPDX-License-Identifier: BSD-3-Clause
#include "chains.hpp"

#include <cstdint>

namespace tessera::scheduler {

void Chains::suggest(starpu_data_handle_t tile, int worker) {
  // A number in the place of a pointer, counted from 1: nothing to allocate, nothing to free.
  starpu_data_set_sched_data(tile, reinterpret_cast<void*>(static_cast<std::intptr_t>(worker) + 1));
}

int Chains::suggested(starpu_data_handle_t tile) {
  const auto number = reinterpret_cast<std::intptr_t>(starpu_data_get_sched_data(tile));
  return number >= 1 && number <= STARPU_NMAXWORKERS ? static_cast<int>(number - 1) : nobody;
}

void Chains::submitted(starpu_data_handle_t tile) {
  auto& chain = chains_[tile];
  if (chain.home == nobody) move(chain, suggested(tile));
  chain.unfinished++;
  if (chain.home != nobody) unfinished_[static_cast<std::size_t>(chain.home)]++;
}

bool Chains::finished(starpu_data_handle_t tile) {
  const auto found = chains_.find(tile);
  if (found == chains_.end()) return false;
  auto& chain = found->second;
  chain.unfinished--;
  if (chain.home != nobody) unfinished_[static_cast<std::size_t>(chain.home)]--;
  if (chain.unfinished > 0) return false;
  close(chain);
  chains_.erase(found);
  return true;
}

int Chains::home(starpu_data_handle_t tile) const {
  const auto chain = chains_.find(tile);
  return chain != chains_.end() ? chain->second.home : suggested(tile);
}

std::size_t Chains::length(starpu_data_handle_t tile) const {
  const auto chain = chains_.find(tile);
  return chain != chains_.end() ? chain->second.unfinished : 1;
}

void Chains::set_home(starpu_data_handle_t tile, int worker) {
  const auto chain = chains_.find(tile);
  if (chain != chains_.end()) move(chain->second, worker);
}

void Chains::open(starpu_data_handle_t tile) {
  const auto found = chains_.find(tile);
  if (found == chains_.end() || found->second.home == nobody || found->second.open_bytes > 0) return;
  found->second.open_bytes = starpu_data_get_alloc_size(tile);
  open_bytes_[static_cast<std::size_t>(found->second.home)] += found->second.open_bytes;
}

bool Chains::is_open(starpu_data_handle_t tile, int worker) const {
  const auto chain = chains_.find(tile);
  return chain != chains_.end() && chain->second.home == worker && chain->second.open_bytes > 0;
}

void Chains::close(Chain& chain) {
  if (chain.home != nobody) open_bytes_[static_cast<std::size_t>(chain.home)] -= chain.open_bytes;
  chain.open_bytes = 0;
}

void Chains::move(Chain& chain, int worker) {
  if (chain.home == worker) return;
  close(chain);
  if (chain.home != nobody) unfinished_[static_cast<std::size_t>(chain.home)] -= chain.unfinished;
  chain.home = worker;
  if (chain.home != nobody) unfinished_[static_cast<std::size_t>(chain.home)] += chain.unfinished;
}

void Chains::forget(int worker) {
  for (auto& [tile, chain] : chains_)
    if (chain.home == worker) move(chain, nobody);
}

}  // namespace tessera::scheduler
