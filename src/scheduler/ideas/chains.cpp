// SPDX-License-Identifier: BSD-3-Clause
#include "chains.hpp"

namespace tessera::scheduler {

void Chains::submitted(TileId tile) {
  auto& chain = chains_[tile];
  if (chain.home == no_worker) move(chain, backend_.suggested_home(tile));
  chain.unfinished++;
  if (chain.home != no_worker) unfinished_[static_cast<std::size_t>(chain.home)]++;
}

bool Chains::finished(TileId tile) {
  const auto found = chains_.find(tile);
  if (found == chains_.end()) return false;
  auto& chain = found->second;
  chain.unfinished--;
  if (chain.home != no_worker) unfinished_[static_cast<std::size_t>(chain.home)]--;
  if (chain.unfinished > 0) return false;
  end(chain);
  chains_.erase(found);
  return true;
}

int Chains::home(TileId tile) const {
  const auto chain = chains_.find(tile);
  return chain != chains_.end() ? chain->second.home : backend_.suggested_home(tile);
}

std::size_t Chains::length(TileId tile) const {
  const auto chain = chains_.find(tile);
  return chain != chains_.end() ? chain->second.unfinished : 1;
}

void Chains::set_home(TileId tile, int worker) {
  const auto chain = chains_.find(tile);
  if (chain != chains_.end()) move(chain->second, worker);
}

void Chains::begin(TileId tile, std::size_t memory) {
  const auto found = chains_.find(tile);
  if (found == chains_.end() || found->second.home == no_worker || found->second.incomplete_bytes > 0) return;
  found->second.incomplete_bytes = memory;
  incomplete_bytes_[static_cast<std::size_t>(found->second.home)] += memory;
}

bool Chains::has_begun(TileId tile, int worker) const {
  const auto chain = chains_.find(tile);
  return chain != chains_.end() && chain->second.home == worker && chain->second.incomplete_bytes > 0;
}

void Chains::end(Chain& chain) {
  if (chain.home != no_worker) incomplete_bytes_[static_cast<std::size_t>(chain.home)] -= chain.incomplete_bytes;
  chain.incomplete_bytes = 0;
}

void Chains::move(Chain& chain, int worker) {
  if (chain.home == worker) return;
  end(chain);
  if (chain.home != no_worker) unfinished_[static_cast<std::size_t>(chain.home)] -= chain.unfinished;
  chain.home = worker;
  if (chain.home != no_worker) unfinished_[static_cast<std::size_t>(chain.home)] += chain.unfinished;
}

void Chains::forget(int worker) {
  for (auto& [tile, chain] : chains_)
    if (chain.home == worker) move(chain, no_worker);
}

}  // namespace tessera::scheduler
