// SPDX-License-Identifier: BSD-3-Clause
#include "chains.hpp"

namespace tessera::scheduler {

void Chains::submitted(TileId tile, double flops) {
  auto& chain = chains_[tile];
  if (chain.home == no_worker) move(chain, backend_.suggested_home(tile));
  chain.planned = chain.planned || backend_.is_planned(tile);
  chain.work.add(flops);
  if (chain.home != no_worker) work_[static_cast<std::size_t>(chain.home)].add(flops);
}

void Chains::finished(TileId tile, double flops) {
  auto* const found = chains_.find(tile);
  if (found == nullptr) return;
  auto& chain = *found;
  chain.work.remove(flops);
  if (chain.home != no_worker) work_[static_cast<std::size_t>(chain.home)].remove(flops);
  if (chain.work.tasks > 0) return;
  end(chain);
  chains_.erase(tile);
}

int Chains::home(TileId tile) const {
  const auto* const chain = chains_.find(tile);
  return chain != nullptr ? chain->home : backend_.suggested_home(tile);
}

std::size_t Chains::length(TileId tile) const {
  const auto* const chain = chains_.find(tile);
  return chain != nullptr ? chain->work.tasks : 1;
}

Work Chains::work(TileId tile) const {
  const auto* const chain = chains_.find(tile);
  return chain != nullptr ? chain->work : Work{.tasks = 1};
}

bool Chains::is_planned(TileId tile) const {
  const auto* const chain = chains_.find(tile);
  return chain != nullptr && chain->planned;
}

void Chains::set_home(TileId tile, int worker) {
  if (auto* const chain = chains_.find(tile); chain != nullptr) move(*chain, worker);
}

void Chains::begin(TileId tile, std::size_t memory) {
  auto* const chain = chains_.find(tile);
  if (chain == nullptr || chain->home == no_worker || chain->incomplete_bytes > 0) return;
  chain->incomplete_bytes = memory;
  incomplete_bytes_[static_cast<std::size_t>(chain->home)] += memory;
}

bool Chains::has_begun(TileId tile, int worker) const {
  const auto* const chain = chains_.find(tile);
  return chain != nullptr && chain->home == worker && chain->incomplete_bytes > 0;
}

void Chains::end(Chain& chain) {
  if (chain.home != no_worker) incomplete_bytes_[static_cast<std::size_t>(chain.home)] -= chain.incomplete_bytes;
  chain.incomplete_bytes = 0;
}

void Chains::move(Chain& chain, int worker) {
  if (chain.home == worker) return;
  end(chain);
  if (chain.home != no_worker) work_[static_cast<std::size_t>(chain.home)] -= chain.work;
  chain.home = worker;
  if (chain.home != no_worker) work_[static_cast<std::size_t>(chain.home)] += chain.work;
}

void Chains::forget(int worker) {
  chains_.for_each([&](TileId, Chain& chain) {
    if (chain.home == worker) move(chain, no_worker);
  });
}

}  // namespace tessera::scheduler
