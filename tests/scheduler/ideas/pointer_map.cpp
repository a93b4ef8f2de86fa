// SPDX-License-Identifier: BSD-3-Clause
// The hash table for pointers behaves like the standard one.
#include "scheduler/ideas/pointer_map.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace tessera::scheduler {
namespace {

using Key = struct OpaqueKey*;

Key key(std::uintptr_t number) { return reinterpret_cast<Key>(number); }

std::map<Key, int> entries_of(PointerMap<Key, int>& map) {
  std::map<Key, int> entries;
  map.for_each([&](Key found, int value) { entries.emplace(found, value); });
  return entries;
}

/// @param step  distance of the keys: with some distances, long runs of entries have the same preferred slots
void compare_with_standard_map(std::uintptr_t step) {
  std::mt19937 random(1);
  PointerMap<Key, int> map;
  std::map<Key, int> expected;
  for (int i = 0; i < 20000; i++) {
    const auto k = key(step * (1 + random() % 100));
    if (random() % 2 == 0) {
      map[k] = expected[k] = i;
    } else {
      map.erase(k);
      expected.erase(k);
    }
    ASSERT_EQ(map.size(), expected.size());
    const auto probe = key(step * (1 + random() % 100));
    ASSERT_EQ(map.contains(probe), expected.contains(probe));
    if (expected.contains(probe)) {
      ASSERT_EQ(*map.find(probe), expected.at(probe));
    }
  }
  EXPECT_EQ(entries_of(map), expected);
}

TEST(PointerMap, HoldsWhatAStandardMapHolds) {
  for (const std::uintptr_t step : {1, 16, 4096, 5536}) compare_with_standard_map(step);
}

TEST(PointerMap, HoldsWhatAStandardMapHoldsIfKeysCollide) {
  // The multiplier's inverse modulo 2^64 times n hashes to n, so all of these keys prefer the first slot.
  std::uint64_t inverse = 1;
  for (int i = 0; i < 6; i++) inverse *= 2 - std::uint64_t{0x9E3779B97F4A7C15} * inverse;
  ASSERT_EQ(inverse * std::uint64_t{0x9E3779B97F4A7C15}, 1);
  compare_with_standard_map(static_cast<std::uintptr_t>(inverse));
}

TEST(PointerMap, AddsADefaultValue) {
  PointerMap<Key, int> map;
  map[key(1)]++;
  EXPECT_EQ(map.at(key(1)), 1);
  map.erase(key(1));
  EXPECT_EQ(map[key(1)], 0);
  EXPECT_THROW(map.at(key(2)), std::out_of_range);
}

TEST(PointerMap, KeepsEntriesWhenItGrows) {
  PointerMap<Key, int> map;
  constexpr int count = 1000;
  for (int i = 1; i <= count; i++) map[key(static_cast<std::uintptr_t>(i) * 64)] = i;
  EXPECT_EQ(map.size(), count);
  for (int i = 1; i <= count; i++) EXPECT_EQ(map.at(key(static_cast<std::uintptr_t>(i) * 64)), i);
}

}  // namespace
}  // namespace tessera::scheduler
