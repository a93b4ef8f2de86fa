// SPDX-License-Identifier: BSD-3-Clause
#include "device_heap.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace tessera::memory {

namespace {

constexpr std::size_t alignment = 512, slab_bytes = std::size_t{2} << 30;

}  // namespace

std::size_t DeviceHeap::aligned(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
}

DeviceHeap::DeviceHeap(std::size_t limit, Source source) : limit_(limit), source_(std::move(source)) {}

DeviceHeap::~DeviceHeap() {
  for (const auto& slab : slabs_)
    if (slab.memory != nullptr) source_.give_back(slab.memory);
}

void DeviceHeap::prepare() {
  if (slabs_.empty() && limit_ > 0) add_slab(std::min(slab_bytes, limit_), true);
}

void* DeviceHeap::allocate(std::size_t bytes) {
  bytes = aligned(bytes);
  if (auto* piece = place(bytes); piece != nullptr) return piece;
  const auto left = limit_ - std::min(kept_, limit_);
  const bool kept = bytes <= left;
  const auto wanted = kept ? std::max(bytes, std::min(slab_bytes, left)) : bytes;
  if (!add_slab(wanted, kept) && !add_slab(bytes, kept)) return nullptr;
  return place(bytes);
}

/// Best fit: places a piece in the smallest free space that is large enough. Returns null if there is none.
void* DeviceHeap::place(std::size_t bytes) {
  Slab* best = nullptr;
  std::map<std::size_t, std::size_t>::iterator space;
  for (auto& slab : slabs_)
    for (auto free = slab.free.begin(); free != slab.free.end(); ++free)
      if (free->second >= bytes && (best == nullptr || free->second < space->second)) best = &slab, space = free;
  if (best == nullptr) return nullptr;
  const auto [offset, size] = *space;
  best->free.erase(space);
  if (size > bytes) best->free.emplace(offset + bytes, size - bytes);
  auto* piece = best->memory + offset;
  pieces_.emplace(piece, Piece{static_cast<std::size_t>(best - slabs_.data()), bytes});
  return piece;
}

bool DeviceHeap::add_slab(std::size_t bytes, bool kept) {
  auto* memory = static_cast<std::byte*>(source_.take(bytes));
  if (memory == nullptr) return false;
  taken_ += bytes;
  if (kept) kept_ += bytes;
  auto unused = std::ranges::find(slabs_, nullptr, &Slab::memory);
  if (unused == slabs_.end()) unused = slabs_.insert(unused, Slab{});
  *unused = {memory, bytes, kept, false, {{0, bytes}}};
  return true;
}

std::optional<DeviceHeap::Position> DeviceHeap::lend(void* piece) {
  const auto found = pieces_.find(piece);
  if (found == pieces_.end()) return std::nullopt;
  auto& slab = slabs_[found->second.slab];
  slab.lent = true;
  return Position{slab.memory, static_cast<std::size_t>(static_cast<std::byte*>(piece) - slab.memory)};
}

void DeviceHeap::release(void* pointer) {
  const auto found = pieces_.find(pointer);
  assert(found != pieces_.end());
  const auto piece = found->second;
  pieces_.erase(found);
  auto& slab = slabs_[piece.slab];
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(pointer) - slab.memory);
  auto space = slab.free.emplace(offset, piece.bytes).first;
  if (const auto next = std::next(space); next != slab.free.end() && offset + piece.bytes == next->first) {
    space->second += next->second;
    slab.free.erase(next);
  }
  if (space != slab.free.begin()) {
    const auto before = std::prev(space);
    if (before->first + before->second == offset) {
      before->second += space->second;
      slab.free.erase(space);
    }
  }
  const auto empty = [](const Slab& other) {
    return other.memory != nullptr && other.free.size() == 1 && other.free.begin()->second == other.bytes;
  };
  if (slab.lent || !empty(slab)) return;
  const bool only_one =
      std::ranges::none_of(slabs_, [&](const Slab& other) { return &other != &slab && other.kept && empty(other); });
  if (slab.kept && only_one) return;
  source_.give_back(slab.memory);
  taken_ -= slab.bytes;
  if (slab.kept) kept_ -= slab.bytes;
  slab = {};
}

}  // namespace tessera::memory
