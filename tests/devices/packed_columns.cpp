// SPDX-License-Identifier: BSD-3-Clause
// What the host copies of a piece of a tile: the used rows, to and from a buffer without gaps between columns.
#include "devices/packed_columns.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tessera::test::packed_columns_cpp {
namespace {

using device::Part;
using device::PartialTile;
using device::staging::PackedColumns;

constexpr int m = 6, n = 5, ld = 8, diagonal = 1;
constexpr common::Rectangle piece{1, 1, 4, 3};

PartialTile tile_of(std::vector<double>& memory, Part part) {
  PartialTile tile{};
  tile.matrix.ptr = reinterpret_cast<std::uintptr_t>(memory.data());
  tile.matrix.nx = m;
  tile.matrix.ny = n;
  tile.matrix.ld = ld;
  tile.matrix.elemsize = sizeof(double);
  tile.part = part;
  tile.diagonal = diagonal;
  tile.bytes = m * n * sizeof(double);
  return tile;
}

bool is_used(Part part, int i, int j) {
  if (i < piece.i || i >= piece.i + piece.m || j < piece.j || j >= piece.j + piece.n) return false;
  return part == Part::All || (part == Part::Lower ? i >= diagonal + j : i <= diagonal + j);
}

std::size_t in_buffer(int i, int j) { return static_cast<std::size_t>(i - piece.i + (j - piece.j) * piece.m); }

class PackedColumnsOf : public testing::TestWithParam<Part> {};

TEST_P(PackedColumnsOf, AreTheUsedRows) {
  std::vector<double> memory(ld * n);
  for (std::size_t i = 0; i < memory.size(); i++) memory[i] = static_cast<double>(i);
  for (const bool streams : {false, true}) {
    std::vector<double> buffer(piece.m * piece.n, -1);
    PackedColumns(tile_of(memory, GetParam()), piece, buffer.data()).pack(streams);
    for (int j = piece.j; j < piece.j + piece.n; j++)
      for (int i = piece.i; i < piece.i + piece.m; i++)
        EXPECT_EQ(buffer[in_buffer(i, j)], is_used(GetParam(), i, j) ? i + j * ld : -1)
            << i << ", " << j << ", " << streams;
  }
}

TEST_P(PackedColumnsOf, GoBackToNothingElse) {
  std::vector<double> memory(ld * n, -1), buffer(piece.m * piece.n);
  for (std::size_t i = 0; i < buffer.size(); i++) buffer[i] = static_cast<double>(i);
  PackedColumns(tile_of(memory, GetParam()), piece, buffer.data()).unpack();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < ld; i++)
      EXPECT_EQ(memory[static_cast<std::size_t>(i + j * ld)],
                is_used(GetParam(), i, j) ? static_cast<double>(in_buffer(i, j)) : -1)
          << i << ", " << j;
}

TEST(Cut, GivesPiecesThatFitInABuffer) {
  constexpr std::size_t element = 16, whole_column = device::staging::buffer_bytes / element;
  constexpr int tall = 2 * static_cast<int>(whole_column) + 3, count = 3;
  std::vector<common::Rectangle> pieces;
  device::staging::cut({5, 1, tall, count}, element, device::staging::buffer_bytes, pieces);
  std::vector<int> copies(std::size_t{tall} * count);
  for (const auto& [i, j, rows, columns] : pieces) {
    EXPECT_LE(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * element,
              device::staging::buffer_bytes);
    for (int column = j - 1; column < j - 1 + columns; column++)
      for (int row = i - 5; row < i - 5 + rows; row++) copies.at(static_cast<std::size_t>(row + column * tall))++;
  }
  EXPECT_EQ(copies, std::vector<int>(copies.size(), 1));
}

TEST(Cut, CoversTheTallestColumn) {
  constexpr int tallest = std::numeric_limits<int>::max();
  std::vector<common::Rectangle> pieces;
  device::staging::cut({0, 0, tallest, 1}, sizeof(double), device::staging::buffer_bytes, pieces);
  int next = 0;
  for (const auto& piece : pieces) {
    ASSERT_EQ(piece.i, next);
    next += piece.m;
  }
  EXPECT_EQ(next, tallest);
}

INSTANTIATE_TEST_SUITE_P(EachPart, PackedColumnsOf, testing::Values(Part::All, Part::Lower, Part::Upper));

}  // namespace
}  // namespace tessera::test::packed_columns_cpp
