// SPDX-License-Identifier: BSD-3-Clause
#include "chains.hpp"

namespace tessera::scheduler {

void Chains::submitted(starpu_data_handle_t tile) {
  auto& chain = chains_[tile];
  if (chain.home == nobody) move(chain, suggested_home(tile));
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
  return chain != chains_.end() ? chain->second.home : suggested_home(tile);
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
