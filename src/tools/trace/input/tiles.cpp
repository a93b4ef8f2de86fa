// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/tiles.hpp"

#include <algorithm>

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

}  // namespace tessera::trace
