// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/error.hpp>

namespace tessera::distributed {

/// The owners of tiles, in a compact table that stays in the cache. A process looks up several owners for each task of
/// all processes, and StarPU's own records of tiles are some KiB apart.
class OwnerTable {
 public:
  /// Sets the owner of a tile. Replaces the owner of an earlier tile with this handle, because StarPU reuses handles.
  void assign(starpu_data_handle_t tile, int owner) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    insert({tile, owner});
  }
  /// @throws RuntimeError if no owner was assigned
  int of(starpu_data_handle_t tile) const {
    auto i = place(tile);
    for (; entries_[i].tile != tile; i = (i + 1) & (entries_.size() - 1))
      if (entries_[i].tile == nullptr) throw RuntimeError("a tile belongs to no process");
    return entries_[i].owner;
  }

 private:
  struct Entry {
    starpu_data_handle_t tile = nullptr;  // null: free
    int owner = 0;
  };

  std::size_t place(starpu_data_handle_t tile) const {
    const auto address = reinterpret_cast<std::uintptr_t>(tile);
    return ((address >> 4) * 0x9e3779b97f4a7c15ULL >> 20) & (entries_.size() - 1);
  }
  void insert(const Entry& entry) {
    auto i = place(entry.tile);
    while (entries_[i].tile != nullptr && entries_[i].tile != entry.tile) i = (i + 1) & (entries_.size() - 1);
    if (entries_[i].tile == nullptr) count_++;
    entries_[i] = entry;
  }
  void grow() {
    auto before = std::vector<Entry>(2 * entries_.size());
    before.swap(entries_);
    count_ = 0;
    for (const auto& entry : before)
      if (entry.tile != nullptr) insert(entry);
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1024);  // a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace tessera::distributed
