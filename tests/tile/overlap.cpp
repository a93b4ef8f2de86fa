// SPDX-License-Identifier: BSD-3-Clause
// The bytes that two pieces of memory have in common, compared with sets of bytes.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/matrices.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::test::overlap_cpp {
namespace {

using Memory = detail::TileGrid::Memory;

constexpr std::size_t arena_size = 256;
std::array<std::byte, arena_size> arena;

std::vector<bool> bytes_of(const Memory& memory) {
  std::vector<bool> covered(arena_size);
  for (Index j = 0; j < memory.columns; j++)
    for (std::size_t i = 0; i < memory.height; i++)
      covered.at(static_cast<std::size_t>(memory.first - arena.data()) + static_cast<std::size_t>(j) * memory.stride +
                 i) = true;
  return covered;
}

bool share_a_byte(const Memory& a, const Memory& b) {
  const auto in_a = bytes_of(a), in_b = bytes_of(b);
  for (std::size_t i = 0; i < arena_size; i++)
    if (in_a[i] && in_b[i]) return true;
  return false;
}

Memory random_memory(Random& random) {
  const auto height = random.integer(1, 12), stride = height + random.integer(0, 12), columns = random.integer(0, 8);
  const auto extent = columns == 0 ? 0 : (columns - 1) * stride + height;
  const auto first = random.integer(0, static_cast<Index>(arena_size) - extent);
  return {arena.data() + first, static_cast<std::size_t>(height), static_cast<std::size_t>(stride), columns};
}

TEST(Overlap, AgreesWithSetsOfBytes) {
  Random random(1);
  int overlapping = 0, interleaved = 0;
  for (int repeat = 0; repeat < 20000; repeat++) {
    const auto a = random_memory(random), b = random_memory(random);
    const bool expected = share_a_byte(a, b);
    ASSERT_EQ(tile::overlap(a, b), expected) << "case " << repeat;
    ASSERT_EQ(tile::overlap(b, a), expected) << "case " << repeat;
    overlapping += expected;
    interleaved += !expected && a.columns > 0 && b.columns > 0 && a.first < b.first + b.columns * b.stride &&
                   b.first < a.first + a.columns * a.stride;
  }
  EXPECT_GT(overlapping, 1000);  // all kinds of cases occur
  EXPECT_GT(interleaved, 100);
}

TEST(Overlap, TellsRowBlocksOfOneArrayApart) {
  const Memory upper{arena.data(), 5, 10, 20}, lower{arena.data() + 5, 5, 10, 20};
  EXPECT_FALSE(tile::overlap(upper, lower));
  const Memory one_byte_more{arena.data(), 6, 10, 20};
  EXPECT_TRUE(tile::overlap(one_byte_more, lower));
}

TEST(Overlap, PartsInARangeAreItsBytesAndWholeColumns) {
  Random random(2);
  int single = 0, several = 0, none = 0;
  for (int repeat = 0; repeat < 20000; repeat++) {
    const auto x = random_memory(random);
    const auto first = random.integer(0, Index{arena_size} - 1), end = random.integer(first + 1, arena_size);
    const auto part = tile::part_in(x, arena.data() + first, arena.data() + end);
    const auto in_x = bytes_of(x), in_part = bytes_of(part);
    const bool is_single = part.columns == 1 && part.height > 0;
    for (Index i = 0; i < Index{arena_size}; i++) {
      const auto at = static_cast<std::size_t>(i);
      const bool wanted = in_x[at] && i >= first && i < end;
      if (is_single) {
        ASSERT_EQ(in_part[at], wanted) << "case " << repeat << ", byte " << i;
      } else {
        ASSERT_TRUE(wanted <= in_part[at] && in_part[at] <= in_x[at]) << "case " << repeat << ", byte " << i;
      }
    }
    for (Index j = 0; j < part.columns; j++) {  // no column without a byte in the range
      const Memory column{part.first + static_cast<std::size_t>(j) * part.stride, part.height, 1, 1};
      ASSERT_TRUE(share_a_byte(column, {arena.data() + first, static_cast<std::size_t>(end - first), 1, 1}));
    }
    (part.columns == 0 ? none : is_single ? single : several)++;
  }
  EXPECT_GT(single, 1000);
  EXPECT_GT(several, 1000);
  EXPECT_GT(none, 1000);
}

TEST(Overlap, NothingOverlapsNothing) {
  const Memory empty{arena.data() + 3, 4, 8, 0}, full{arena.data(), 8, 8, 8};
  EXPECT_FALSE(tile::overlap(empty, full));
  EXPECT_FALSE(tile::overlap(full, empty));
  EXPECT_FALSE(tile::overlap(empty, empty));
}

}  // namespace
}  // namespace tessera::test::overlap_cpp
