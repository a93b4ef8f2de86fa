// SPDX-License-Identifier: BSD-3-Clause
#include "tile_cache.hpp"

#include <algorithm>

namespace tessera::scheduler {

namespace {

bool is_gpu(unsigned node) { return starpu_node_get_kind(node) != STARPU_CPU_RAM; }

}  // namespace

TileCache::TileCache(bool peers_first) : peers_(starpu_memory_nodes_get_count()) {
  for (unsigned node = 0; node < peers_.size(); node++) {
    if (!is_gpu(node)) continue;
    for (unsigned source = 0; source < peers_.size(); source++) {
      if (source == node || !is_gpu(source)) continue;
      // False, too, where one of the rates is not known.
      if (!(starpu_transfer_bandwidth(source, node) >= starpu_transfer_bandwidth(STARPU_MAIN_RAM, node))) continue;
      peers_[node].push_back(source);
      // StarPU takes for granted that all GPUs share the bandwidth of each link, and so prefers the host to a peer that
      // is as fast: here one pair of GPUs has its link to itself.
      const int bus = starpu_bus_get_id(static_cast<int>(source), static_cast<int>(node));
      if (peers_first && bus >= 0) starpu_bus_set_ngpus(bus, 1);
    }
  }
}

bool TileCache::valid(starpu_data_handle_t tile, unsigned node) {
  int valid = 0;
  starpu_data_query_status2(tile, static_cast<int>(node), nullptr, &valid, nullptr, nullptr);
  return valid != 0;
}

bool TileCache::has_place(starpu_data_handle_t tile, unsigned node) {
  int allocated = 0;
  starpu_data_query_status2(tile, static_cast<int>(node), &allocated, nullptr, nullptr, nullptr);
  return allocated != 0;
}

bool TileCache::arriving(starpu_data_handle_t tile, unsigned node) {
  int valid = 0, loading = 0, requested = 0;
  starpu_data_query_status2(tile, static_cast<int>(node), nullptr, &valid, &loading, &requested);
  return valid == 0 && (loading != 0 || requested != 0);
}

TileCache::Level TileCache::level(starpu_data_handle_t tile, unsigned node) const {
  // What is cheap to ask comes first.
  if (valid(tile, node) || arriving(tile, node)) return Level::Own;
  const auto& peers = peers_[node];
  const auto has = [tile](unsigned peer) { return valid(tile, peer); };
  const auto gets = [tile](unsigned peer) { return arriving(tile, peer); };
  return std::ranges::any_of(peers, has) || std::ranges::any_of(peers, gets) ? Level::Peer : Level::Far;
}

TileCache::Score TileCache::score(starpu_task* task, unsigned node) const {
  Score score;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    const auto found = (mode & STARPU_R) != 0 ? level(tile, node) : Level::Own;
    score.sum += starpu_data_get_size(tile) * static_cast<std::size_t>(found);
    score.best = score.best && found == Level::Own;
  });
  return score;
}

bool TileCache::at_hand(starpu_task* task, unsigned node) {
  bool all = true;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if (all && (mode & STARPU_R) != 0) all = valid(tile, node);
  });
  return all;
}

std::vector<starpu_data_handle_t> TileCache::missing(starpu_task* task, unsigned node) {
  std::vector<starpu_data_handle_t> tiles;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if ((mode & STARPU_R) != 0 && !valid(tile, node)) tiles.push_back(tile);
  });
  return tiles;
}

bool TileCache::on_its_way_to_a_peer(starpu_data_handle_t tile, unsigned node) const {
  if (peers_[node].empty() || valid(tile, node)) return false;
  const auto has_it = [tile](unsigned peer) { return valid(tile, peer); };
  if (std::ranges::any_of(peers_[node], has_it) || arriving(tile, node)) return false;
  return std::ranges::any_of(peers_[node], [tile](unsigned peer) { return arriving(tile, peer); });
}

bool TileCache::is_peer(unsigned source, unsigned node) const {
  return std::ranges::find(peers_[node], source) != peers_[node].end();
}

double TileCache::seconds_to_move(starpu_task* task, unsigned node) const {
  double seconds = 0;
  for_each_tile(task, [&](starpu_data_handle_t tile, int mode) {
    if ((mode & STARPU_R) == 0 || valid(tile, node)) return;
    unsigned source = STARPU_MAIN_RAM;
    for (const unsigned peer : peers_[node])
      if (valid(tile, peer)) source = peer;
    const double rate = source == node ? 0 : 1e6 * starpu_transfer_bandwidth(source, node);
    if (rate > 0) seconds += static_cast<double>(starpu_data_get_size(tile)) / rate;
  });
  return seconds;
}

}  // namespace tessera::scheduler
