// SPDX-License-Identifier: BSD-3-Clause
#include "tile_cache.hpp"

#include <algorithm>
#include <utility>

namespace tessera::scheduler {

void TileCache::set_links(Links links) {
  links_ = std::move(links);
  const auto& [is_gpu, rate] = links_;
  peers_.assign(is_gpu.size(), {});
  peer_rate_.assign(is_gpu.size(), 0);
  for (unsigned node = 0; node < is_gpu.size(); node++) {
    if (!is_gpu[node]) continue;
    for (unsigned source = 0; source < is_gpu.size(); source++)
      if (source != node && is_gpu[source] && rate[source][node] >= rate[host_node][node]) {  // false for NaN
        peers_[node].push_back(source);
        peer_rate_[node] = std::max(peer_rate_[node], rate[source][node]);
      }
  }
}

TileCache::Level TileCache::level(TileId tile, unsigned node) const {
  // `valid` is cheaper to ask than `arriving`.
  if (valid(tile, node) || arriving(tile, node)) return Level::Own;
  const auto& peers = peers_[node];
  const auto has = [&](unsigned peer) { return valid(tile, peer); };
  const auto gets = [&](unsigned peer) { return arriving(tile, peer); };
  return std::ranges::any_of(peers, has) || std::ranges::any_of(peers, gets) ? Level::Peer : Level::Far;
}

double TileCache::seconds(std::size_t from_peers, std::size_t from_host, unsigned node) const {
  const auto at = [](std::size_t bytes, double rate) {
    constexpr double assumed = 1000;  // MB/s, if unknown
    return static_cast<double>(bytes) / (1e6 * (rate > 0 ? rate : assumed));
  };
  return at(from_peers, peer_rate_[node]) + at(from_host, links_.rate[host_node][node]);
}

double TileCache::seconds_to_host(std::size_t bytes, unsigned node) const {
  const double rate = links_.rate[node][host_node];
  return rate > 0 ? static_cast<double>(bytes) / (1e6 * rate) : 0;
}

bool TileCache::has_all(const Task& task, unsigned node) const {
  return std::ranges::all_of(task.tiles, [&](const TileUse& use) { return !use.reads || valid(use.tile, node); });
}

std::vector<TileId> TileCache::missing(const Task& task, unsigned node) const {
  std::vector<TileId> tiles;
  for (const auto& use : task.tiles)
    if (use.reads && !valid(use.tile, node)) tiles.push_back(use.tile);
  return tiles;
}

bool TileCache::on_its_way_to_a_peer(TileId tile, unsigned node) const {
  if (peers_[node].empty() || valid(tile, node)) return false;
  const auto has = [&](unsigned peer) { return valid(tile, peer); };
  if (std::ranges::any_of(peers_[node], has) || arriving(tile, node)) return false;
  return std::ranges::any_of(peers_[node], [&](unsigned peer) { return arriving(tile, peer); });
}

bool TileCache::comes_through_host(TileId tile, unsigned node) const {
  if (valid(tile, host_node) || valid(tile, node)) return false;
  bool far = false;
  for (unsigned source = 0; source < peers_.size(); source++)
    if (valid(tile, source)) {
      if (is_peer(source, node)) return false;
      far = true;
    }
  return far;
}

bool TileCache::is_peer(unsigned source, unsigned node) const {
  return std::ranges::find(peers_[node], source) != peers_[node].end();
}

bool TileCache::shares_host_link(unsigned peer, unsigned node) const {
  constexpr double much_faster = 1.5;
  return !backend_.has_own_wires(peer, node) && links_.rate[peer][node] <= much_faster * links_.rate[host_node][node];
}

double TileCache::seconds_to_move(const Task& task, unsigned node) const {
  double seconds = 0;
  for (const auto& use : task.tiles) {
    if (!use.reads || valid(use.tile, node)) continue;
    unsigned source = host_node;
    for (const unsigned peer : peers_[node])
      if (valid(use.tile, peer)) source = peer;
    const double rate = source == node ? 0 : 1e6 * links_.rate[source][node];
    if (rate > 0) seconds += static_cast<double>(use.bytes) / rate;
  }
  return seconds;
}

}  // namespace tessera::scheduler
