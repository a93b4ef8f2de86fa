// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tessera::scheduler {

/// A hash table keyed by non-null pointers. It uses linear probing in a single array: it allocates only to grow, and
/// finds a key with about one memory access. References to values are valid until the table changes.
template <typename Key, typename Value>
class PointerMap {
 public:
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The value of a key, or null.
  Value* find(Key key) noexcept { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(Key key) const noexcept {
    if (size_ == 0) return nullptr;
    const auto& entry = entries_[place_of(key)];
    return entry.key == nullptr ? nullptr : &entry.value;
  }
  bool contains(Key key) const noexcept { return find(key) != nullptr; }
  const Value& at(Key key) const {
    const auto* value = find(key);
    if (value == nullptr) throw std::out_of_range("PointerMap::at");
    return *value;
  }

  /// The value of a key. Adds the key if it is missing.
  Value& operator[](Key key) {
    assert(key != nullptr);
    if (2 * (size_ + 1) > entries_.size()) grow();
    auto& entry = entries_[place_of(key)];
    if (entry.key == nullptr) entry.key = key, size_++;
    return entry.value;
  }

  /// Removes a key, if it is there.
  void erase(Key key) {
    if (size_ == 0) return;
    auto hole = place_of(key);
    if (entries_[hole].key == nullptr) return;
    // Entries behind the hole move into it if a search would otherwise stop at the hole and miss them.
    for (auto next = after(hole); entries_[next].key != nullptr; next = after(next)) {
      if (distance(home_of(entries_[next].key), next) < distance(hole, next)) continue;
      entries_[hole] = std::move(entries_[next]);
      hole = next;
    }
    entries_[hole] = {};
    size_--;
  }

  /// Calls function(key, value) for all entries, in no particular order.
  template <typename Function>
  void for_each(Function function) {
    for (auto& entry : entries_)
      if (entry.key != nullptr) function(entry.key, entry.value);
  }

 private:
  struct Entry {
    Key key = nullptr;
    Value value{};
  };

  /// Fibonacci hashing: the upper bits of the product depend on all bits of the pointer.
  std::size_t home_of(Key key) const noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(key) * std::uint64_t{0x9E3779B97F4A7C15}) >>
                                    shift_);
  }
  /// The position of the key, or where to insert it. There is always a free entry.
  std::size_t place_of(Key key) const noexcept {
    auto place = home_of(key);
    while (entries_[place].key != nullptr && entries_[place].key != key) place = after(place);
    return place;
  }
  std::size_t after(std::size_t place) const noexcept { return (place + 1) & (entries_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const noexcept { return (to - from) & (entries_.size() - 1); }

  void grow() {
    auto before = std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 16 : 2 * entries_.size()));
    shift_ = 64 - std::countr_zero(entries_.size());
    for (auto& entry : before)
      if (entry.key != nullptr) entries_[place_of(entry.key)] = std::move(entry);
  }

  std::vector<Entry> entries_;  ///< a power of two; at most half of them are used
  std::size_t size_ = 0;
  int shift_ = 63;
};

}  // namespace tessera::scheduler
