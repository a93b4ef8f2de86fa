// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/spare_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace tessera::dropin {
namespace {

constexpr std::size_t page = 4096, large = (std::size_t{8} << 20) + 16 * page;

bool is_mapped(std::byte* address) { return msync(address, page, MS_ASYNC) == 0; }

/// The address of memory of this size after it was used and returned.
std::byte* use(std::size_t bytes) {
  const SpareMemory memory(bytes);
  std::memset(memory.data(), 1, bytes);
  return memory.data();
}

struct SpareMemoryTest : ::testing::Test {
  ~SpareMemoryTest() override { SpareMemory::release_kept(); }
};

TEST_F(SpareMemoryTest, TheNextCallGetsTheSameMemory) {
  auto* const first = use(large);
  EXPECT_TRUE(is_mapped(first));
  EXPECT_EQ(use(large), first);
  EXPECT_EQ(use(large - page), first);  // smaller, but by less than half
  SpareMemory::release_kept();
  EXPECT_FALSE(is_mapped(first));
}

TEST_F(SpareMemoryTest, MuchSmallerOrLargerCallsGetOtherMemory) {
  auto* const first = use(2 * large + page);
  const SpareMemory smaller(large), larger(4 * large);
  EXPECT_NE(smaller.data(), first);
  EXPECT_NE(larger.data(), first);
  EXPECT_TRUE(is_mapped(first));
}

TEST_F(SpareMemoryTest, SmallMemoryIsNotKept) { EXPECT_FALSE(is_mapped(use(std::size_t{1} << 20))); }

TEST_F(SpareMemoryTest, TheOldestGoesFirst) {
  std::vector<std::optional<SpareMemory>> all(5);
  std::vector<std::byte*> places;
  for (auto& memory : all) places.push_back(memory.emplace(large).data());
  for (auto& memory : all) memory.reset();
  EXPECT_FALSE(is_mapped(places[0]));
  for (std::size_t i = 1; i < all.size(); i++) EXPECT_TRUE(is_mapped(places[i])) << i;
}

TEST_F(SpareMemoryTest, MemoryThatTheSystemDoesNotHave) {
  EXPECT_EQ(SpareMemory(std::size_t{1} << 60).data(), nullptr);
}

TEST_F(SpareMemoryTest, NoTwoCallersHaveTheSame) {
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; caller++)
    callers.emplace_back([caller] {
      for (int i = 0; i < 50; i++) {
        const SpareMemory memory(large);
        const auto mark = static_cast<std::byte>(4 * i + caller);
        for (std::size_t at = 0; at < large; at += page) memory.data()[at] = mark;
        for (std::size_t at = 0; at < large; at += page) ASSERT_EQ(memory.data()[at], mark);
      }
    });
}

}  // namespace
}  // namespace tessera::dropin
