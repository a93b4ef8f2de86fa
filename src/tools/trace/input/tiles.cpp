// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/tiles.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace tessera::trace {

namespace {

constexpr bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

Tile described_by(const RecordedData& data) {
  Tile tile;
  tile.bytes = data.bytes;
  tile.temporary = data.temporary;
  // Tessera names tiles after their matrix: A, B or C. The outputs require a letter.
  if (data.name.size() == 1 && is_letter(data.name[0])) tile.operand = data.name[0];
  if (data.coordinates.size() >= 2) tile.row = data.coordinates[0], tile.column = data.coordinates[1];
  return tile;
}

}  // namespace

Tiles::Tiles(const std::vector<PajeTrace::Registration>& registrations, const std::vector<RecordedData>& data) {
  for (const auto& registration : registrations) {
    auto& lives = lives_[registration.handle];
    if (registration.begins) lives.push_back({.begin = registration.time});
    else if (!lives.empty()) lives.back().ended = true;
  }
  // StarPU describes data when they are unregistered, and the remaining data at the end. While recording is paused, it
  // misses the unregistration of data, but not the registration of other data at the same address.
  for (const auto& one : data) {
    auto& lives = lives_[one.handle];
    if (lives.empty()) lives.emplace_back();
    const auto undescribed = [](const Life& life) { return life.data == nullptr; };
    auto life = std::ranges::find_if(lives, [&](const Life& l) { return undescribed(l) && l.ended; });
    if (life == lives.end()) life = lives.end() - 1;
    if (undescribed(*life)) life->data = &one;
  }
}

int Tiles::at(std::uint64_t handle, double time) {
  auto& lives = lives_[handle];
  if (lives.empty()) lives.emplace_back();
  const auto later = std::ranges::upper_bound(lives, time, {}, &Life::begin);
  auto& life = later == lives.begin() ? lives.front() : *(later - 1);
  if (life.tile == none) {
    life.tile = static_cast<int>(tiles_.size());
    tiles_.push_back(life.data == nullptr ? Tile{} : described_by(*life.data));
  }
  return life.tile;
}

namespace {

/// The uses of each tile by tasks, in order of time.
class Uses {
 public:
  explicit Uses(const Run& run) {
    for (const auto& task : run.tasks)
      for (const auto& access : task.accesses) {
        const int node = task.worker == none ? none : run.workers[static_cast<std::size_t>(task.worker)].node;
        by_tile_[access.tile].push_back({task.start, node, access.operand, access.write});
      }
    for (auto& [tile, uses] : by_tile_) std::ranges::stable_sort(uses, {}, &Use::start);
  }

  bool any(int tile) const { return by_tile_.contains(tile); }

  /// The operand letter of a transferred tile. For a result that is written back, the letter in the last task that
  /// wrote it; otherwise the letter in the next task that uses the tile at the destination.
  char what_for(const Transfer& transfer, bool to_host) const {
    const auto known = by_tile_.find(transfer.tile);
    if (known == by_tile_.end()) return '-';
    const auto& uses = known->second;
    const auto next = std::ranges::lower_bound(uses, transfer.start, {}, &Use::start);
    if (to_host)
      for (auto use = next; use != uses.begin();)
        if ((--use)->write) return use->operand;
    const auto there = std::find_if(next, uses.end(), [&](const Use& use) { return use.node == transfer.to; });
    return there == uses.end() ? '-' : there->operand;
  }

 private:
  struct Use {
    double start;
    int node;
    char operand;
    bool write;
  };
  std::unordered_map<int, std::vector<Use>> by_tile_;
};

/// The reason for a transfer. StarPU copies a result to the host by a fetch. It copies data that it is about to evict
/// to the host, either in advance, while the link is idle, or at once if a memory is full.
Transfer::Reason reason_of(const PajeTrace::Transfer& transfer, bool to_host) {
  if (to_host && (transfer.evicts || transfer.kind == "IF")) return Transfer::Reason::WriteBack;
  return transfer.kind == "F" ? Transfer::Reason::Fetch : Transfer::Reason::Prefetch;
}

/// Computes when each transfer occupied its link. StarPU records when a copy is requested and when it ends, and a link
/// processes its requests one after another.
void queue_on_links(std::vector<Transfer>& transfers) {
  std::ranges::stable_sort(transfers, {}, &Transfer::end);
  std::map<std::pair<int, int>, double> free;
  for (auto& transfer : transfers) {
    auto& link = free[{transfer.from, transfer.to}];
    transfer.start = std::max(transfer.asked, link);
    link = transfer.end;
  }
}

}  // namespace

void add_transfers(Run& run, const PajeTrace& trace, Tiles& tiles) {
  const Uses uses(run);
  double first = never;
  for (const auto& task : run.tasks) first = std::min(first, task.submitted);
  for (const auto& recorded : trace.transfers) {
    if (recorded.from == recorded.to || recorded.end < recorded.start) continue;
    Transfer transfer{.from = recorded.from, .to = recorded.to, .tile = tiles.at(recorded.handle, recorded.start)};
    if (!uses.any(transfer.tile) && recorded.start < first) continue;
    const bool to_host = run.nodes[static_cast<std::size_t>(transfer.to)].kind == Kind::Host;
    auto& tile = tiles[transfer.tile];
    if (tile.bytes == 0) tile.bytes = recorded.bytes;
    if (tile.row == none && (recorded.x != 0 || recorded.y != 0)) tile.row = recorded.x, tile.column = recorded.y;
    transfer.asked = transfer.start = recorded.start, transfer.end = recorded.end;
    transfer.operand = uses.what_for(transfer, to_host);
    if (transfer.operand == '-') transfer.operand = tile.operand;
    transfer.reason = reason_of(recorded, to_host);
    transfer.bytes = recorded.bytes;
    run.transfers.push_back(transfer);
  }
  queue_on_links(run.transfers);
  std::ranges::stable_sort(run.transfers, {}, &Transfer::start);
}

}  // namespace tessera::trace
