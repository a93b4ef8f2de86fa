// SPDX-License-Identifier: BSD-3-Clause
// Pieces of device memory lie within slabs and do not overlap, and all memory is free again when they are released.
#include "memory/device_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "memory/allocation_size.hpp"

namespace tessera::test::device_heap_cpp {
namespace {

using memory::DeviceHeap;

constexpr std::size_t MiB = std::size_t{1} << 20, GiB = MiB << 10;

/// A device with a given memory size, whose addresses are numbers without memory behind them.
class Device {
 public:
  explicit Device(std::size_t bytes) : left_(bytes) {}
  DeviceHeap::Source source() {
    return {[this](std::size_t bytes) -> void* {
              if (bytes > left_) return nullptr;
              left_ -= bytes;
              auto* slab = reinterpret_cast<void*>(next_);
              next_ += bytes + GiB;
              slabs_[slab] = bytes;
              return slab;
            },
            [this](void* slab) {
              left_ += slabs_.at(slab);
              slabs_.erase(slab);
            }};
  }
  std::size_t left() const { return left_; }
  std::size_t slabs() const { return slabs_.size(); }
  /// Whether the piece is within one slab.
  bool has(const void* piece, std::size_t bytes) const {
    return std::ranges::any_of(slabs_, [&](const auto& slab) {
      const auto begin = reinterpret_cast<std::uintptr_t>(slab.first), at = reinterpret_cast<std::uintptr_t>(piece);
      return at >= begin && at + bytes <= begin + slab.second;
    });
  }

 private:
  std::size_t left_;
  std::uintptr_t next_ = GiB;
  std::map<void*, std::size_t> slabs_;
};

TEST(DeviceHeap, TakesSlabsAndHandsOutPieces) {
  Device device(10 * GiB);
  DeviceHeap heap(10 * GiB, device.source());
  EXPECT_EQ(heap.taken(), 0U);
  for (int i = 0; i < 16; i++) EXPECT_NE(heap.allocate(128 * MiB), nullptr);
  EXPECT_EQ(device.slabs(), 1U);
  EXPECT_EQ(heap.taken(), 2 * GiB);
  EXPECT_NE(heap.allocate(1), nullptr);
  EXPECT_EQ(device.slabs(), 2U);
}

TEST(DeviceHeap, CanBePreparedForTheFirstPieces) {
  Device device(10 * GiB);
  DeviceHeap heap(10 * GiB, device.source());
  heap.prepare();
  EXPECT_EQ(heap.taken(), 2 * GiB);
  EXPECT_NE(heap.allocate(2 * GiB), nullptr);
  EXPECT_EQ(device.slabs(), 1U);
}

TEST(DeviceHeap, TakesMoreForALargePiece) {
  Device device(10 * GiB);
  DeviceHeap heap(10 * GiB, device.source());
  EXPECT_NE(heap.allocate(3 * GiB), nullptr);
  EXPECT_EQ(heap.taken(), 3 * GiB);
}

TEST(DeviceHeap, TakesNoMoreThanItsLimitAtOnce) {
  Device device(10 * GiB);
  DeviceHeap heap(100 * MiB, device.source());
  EXPECT_NE(heap.allocate(60 * MiB), nullptr);
  EXPECT_EQ(heap.taken(), 100 * MiB);
}

TEST(DeviceHeap, KeepsOneEmptySlab) {
  Device device(10 * GiB);
  DeviceHeap heap(10 * GiB, device.source());
  std::vector<void*> pieces(4);
  for (auto& piece : pieces) piece = heap.allocate(2 * GiB);
  EXPECT_EQ(device.slabs(), 4U);
  for (auto* piece : pieces) heap.release(piece);
  EXPECT_EQ(device.slabs(), 1U);
  EXPECT_EQ(heap.taken(), 2 * GiB);
  for (auto& piece : pieces) piece = heap.allocate(2 * GiB);
  EXPECT_EQ(device.slabs(), 4U);
}

TEST(DeviceHeap, HasNoRoomWhereTheDeviceHasNone) {
  Device device(GiB);
  DeviceHeap heap(10 * GiB, device.source());
  auto* piece = heap.allocate(700 * MiB);
  EXPECT_NE(piece, nullptr);
  EXPECT_EQ(heap.allocate(700 * MiB), nullptr);
  heap.release(piece);
  EXPECT_NE(heap.allocate(700 * MiB), nullptr);
}

TEST(DeviceHeap, JoinsFreePieces) {
  Device device(10 * GiB);
  DeviceHeap heap(10 * GiB, device.source());
  std::vector<void*> pieces(4);
  for (auto& piece : pieces) piece = heap.allocate(512 * MiB);
  for (const int i : {1, 3, 2, 0}) heap.release(pieces[static_cast<std::size_t>(i)]);
  EXPECT_TRUE(heap.all_free());
  EXPECT_NE(heap.allocate(2 * GiB), nullptr);
  EXPECT_EQ(device.slabs(), 1U);
}

TEST(DeviceHeap, KeepsSlabsThatOtherProcessesOpen) {
  Device device(10 * GiB);
  DeviceHeap heap(10 * GiB, device.source());
  std::vector<void*> pieces(6);
  for (auto& piece : pieces) piece = heap.allocate(GiB);  // two in a slab
  EXPECT_FALSE(heap.lend(&device));                       // not a piece
  for (const std::size_t i : {1U, 3U}) {
    const auto position = heap.lend(pieces[i]);
    ASSERT_TRUE(position);
    EXPECT_EQ(position->slab, pieces[i - 1]);
    EXPECT_EQ(position->offset, GiB);
  }
  for (auto* piece : pieces) heap.release(piece);
  EXPECT_EQ(device.slabs(), 2U);
  EXPECT_FALSE(heap.lend(pieces[1]));
  for (auto& piece : pieces) piece = heap.allocate(GiB);
  EXPECT_EQ(device.slabs(), 3U);
}

/// There is enough free memory, but it is not contiguous. A slab beyond the limit is better than a tile that never
/// fits.
TEST(DeviceHeap, GivesAPieceWithoutSpaceItsOwnSlab) {
  Device device(10 * GiB);
  DeviceHeap heap(GiB, device.source());
  std::vector<void*> pieces(4);
  for (auto& piece : pieces) piece = heap.allocate(256 * MiB);
  heap.release(pieces[0]), heap.release(pieces[2]);
  auto* large = heap.allocate(512 * MiB);
  EXPECT_NE(large, nullptr);
  EXPECT_EQ(heap.taken(), GiB + 512 * MiB);
  heap.release(large);
  EXPECT_EQ(heap.taken(), GiB);
  EXPECT_EQ(device.slabs(), 1U);
  heap.release(pieces[1]), heap.release(pieces[3]);
}

TEST(DeviceHeap, GivesEverythingBack) {
  Device device(10 * GiB);
  {
    DeviceHeap heap(10 * GiB, device.source());
    auto* piece = heap.allocate(3 * GiB);
    heap.allocate(5);
    heap.release(piece);
  }
  EXPECT_EQ(device.left(), 10 * GiB);
}

TEST(DeviceHeap, PiecesNeverOverlap) {
  Device device(6 * GiB);
  DeviceHeap heap(4 * GiB, device.source());
  std::mt19937 engine(1);
  std::map<std::uintptr_t, std::size_t> pieces;
  for (int step = 0; step < 20000; step++) {
    if (engine() % 2 == 0 && !pieces.empty()) {
      auto piece = std::next(pieces.begin(), static_cast<long>(engine() % pieces.size()));
      heap.release(reinterpret_cast<void*>(piece->first));
      pieces.erase(piece);
      continue;
    }
    const std::size_t bytes = 1 + engine() % (64 * MiB);
    auto* memory = heap.allocate(bytes);
    if (memory == nullptr) continue;
    ASSERT_TRUE(device.has(memory, bytes));
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    ASSERT_EQ(at % 512, 0U);
    const auto next = pieces.lower_bound(at);
    ASSERT_TRUE(next == pieces.end() || at + bytes <= next->first);
    ASSERT_TRUE(next == pieces.begin() || std::prev(next)->first + std::prev(next)->second <= at);
    pieces.emplace(at, bytes);
  }
  for (const auto& [at, bytes] : pieces) heap.release(reinterpret_cast<void*>(at));
  EXPECT_TRUE(heap.all_free());
}

/// StarPU keeps a list of free tiles for each size.
TEST(AllocationSize, HasFewValuesWhateverTheShapes) {
  std::mt19937_64 random(1);
  std::set<std::size_t> sizes;
  for (int i = 0; i < 100000; i++) {
    const auto bytes = sizeof(double) * (1 + random() % 3000) * (1 + random() % 3000);
    const auto size = memory::allocation_size(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, std::max(bytes + 511, bytes + bytes / 32));
    sizes.insert(size);
  }
  EXPECT_LT(sizes.size(), 500);
}

TEST(AllocationSize, WastesNothingForTilesOfPowersOfTwo) {
  for (std::size_t rows = 64; rows <= 8192; rows *= 2)
    for (std::size_t columns = 1; columns <= 32; columns++)
      EXPECT_EQ(memory::allocation_size(sizeof(double) * rows * columns), sizeof(double) * rows * columns);
}

}  // namespace
}  // namespace tessera::test::device_heap_cpp
