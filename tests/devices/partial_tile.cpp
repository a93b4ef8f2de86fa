// SPDX-License-Identifier: BSD-3-Clause
// Copies of tiles on the diagonal of a triangle. The used elements are copied, no other elements change on the host,
// and few others cross a link.
#include "devices/partial_tile.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/runtime.hpp"
#include "support/starpu.hpp"

namespace tessera::test::partial_tile_cpp {
namespace {

using device::Part;
using device::PartialTile;

const auto* const runtime = share_runtime();

/// A tile that is registered with StarPU and restricted to a triangle of the matrix.
class Registered {
 public:
  Registered(std::vector<double>& memory, int m, int n, int ld, Uplo uplo, int diagonal) {
    auto tile = tile_at(memory, m, n, ld);
    starpu_data_register(&handle_, STARPU_MAIN_RAM, &tile, &ops_);
    device::use_triangle(handle_, uplo, diagonal);
  }
  ~Registered() { starpu_data_unregister(handle_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  PartialTile& interface() const {
    return *static_cast<PartialTile*>(starpu_data_get_interface_on_node(handle_, STARPU_MAIN_RAM));
  }
  std::size_t size() const { return starpu_data_get_size(handle_); }
  std::size_t memory() const { return starpu_data_get_alloc_size(handle_); }
  /// Copies the tile as StarPU does, to memory without gaps between columns, as on a GPU.
  void copy_to(std::vector<double>& memory) const {
    auto target = interface();
    target.matrix.ptr = target.matrix.dev_handle = reinterpret_cast<std::uintptr_t>(memory.data());
    target.matrix.ld = target.matrix.nx;
    EXPECT_EQ(ops_.copy_methods->any_to_any(&interface(), STARPU_MAIN_RAM, &target, STARPU_MAIN_RAM, nullptr), 0);
  }

 private:
  starpu_data_interface_ops ops_ = device::partial_tile_ops();
  starpu_data_handle_t handle_ = nullptr;
};

struct Shape {
  int m, n, diagonal;
};

constexpr Shape shapes[] = {{640, 640, 0},    {700, 150, 0}, {700, 150, 300}, {700, 150, 690},
                            {300, 640, -200}, {1, 1, 0},     {129, 129, 0},   {640, 600, 40}};

bool in_triangle(Uplo uplo, int i, int j, int diagonal) {
  return uplo == Uplo::Lower ? i >= diagonal + j : i <= diagonal + j;
}

TEST(PartialTile, WritesOnlyTheTriangleToTheHost) {
  constexpr int ld = 701, columns = 640;
  constexpr double nothing = -1;
  std::vector<double> source(static_cast<std::size_t>(ld) * columns);
  std::iota(source.begin(), source.end(), 0.0);
  const auto at = [](const std::vector<double>& memory, int i, int j, int stride) {
    return memory[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(stride)];
  };
  for (const auto& [m, n, diagonal] : shapes)
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      SCOPED_TRACE(::testing::Message() << m << 'x' << n << ", " << diagonal << ' ' << static_cast<char>(uplo));
      const Registered tile(source, m, n, ld, uplo, diagonal);
      std::vector<double> copy(static_cast<std::size_t>(m) * static_cast<std::size_t>(n), nothing);
      tile.copy_to(copy);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
          ASSERT_EQ(at(copy, i, j, m), in_triangle(uplo, i, j, diagonal) ? at(source, i, j, ld) : nothing)
              << i << ' ' << j;
      EXPECT_EQ(tile.memory(), copy.size() * sizeof(double));
    }
}

// The parts cover each element of the triangle once. Their total size is the size that StarPU is told.
TEST(PartialTile, IsCutIntoRectanglesAndCorners) {
  std::vector<double> memory(std::size_t{700} * 640);
  for (const auto& [m, n, diagonal] : shapes)
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      SCOPED_TRACE(::testing::Message() << m << 'x' << n << ", " << diagonal << ' ' << static_cast<char>(uplo));
      const Registered tile(memory, m, n, m, uplo, diagonal);
      std::vector<int> covered(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
      std::size_t used = 0, linked = 0;
      const auto cover = [&](const device::Rectangle& part) {
        linked += static_cast<std::size_t>(part.m) * static_cast<std::size_t>(part.n);
        for (int j = part.j; j < part.j + part.n; j++) {
          const auto [begin, end] = device::used_rows(tile.interface(), part, j);
          for (int i = begin; i < end; i++)
            covered.at(static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(m))++;
        }
      };
      device::for_each_part(
          tile.interface(),
          [&](const device::Rectangle& rectangle) {
            cover(rectangle);
            for (const int j : {rectangle.j, rectangle.j + rectangle.n - 1}) {
              const auto [begin, end] = device::used_rows(tile.interface(), rectangle, j);
              EXPECT_EQ(end - begin, rectangle.m) << "not all of the rectangle is in the triangle";
            }
          },
          cover);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
          const bool needed = in_triangle(uplo, i, j, diagonal);
          ASSERT_EQ(covered[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(m)],
                    needed ? 1 : 0)
              << i << ' ' << j;
          used += needed ? 1 : 0;
        }
      EXPECT_EQ(tile.size(), linked * sizeof(double));
      EXPECT_LT(linked - used, static_cast<std::size_t>(n) * device::narrowest_panel / 2 + 1);
    }
}

TEST(PartialTile, IsWholeByDefault) {
  std::vector<double> memory(std::size_t{700} * 300);
  auto ops = device::partial_tile_ops();
  auto tile = tile_at(memory, 700, 300, 700);
  starpu_data_handle_t handle = nullptr;
  starpu_data_register(&handle, STARPU_MAIN_RAM, &tile, &ops);
  EXPECT_EQ(starpu_data_get_size(handle), tile.allocsize);
  starpu_data_unregister(handle);
}

// A triangle of a large tile is cut into eight panels, so that at most 1/16 of the tile is copied needlessly.
TEST(PartialTile, OfManyColumnsIsInEightPanels) {
  PartialTile tile{};
  tile.matrix.nx = tile.matrix.ny = 4096;
  tile.part = Part::Lower;
  int panels = 0;
  double elements = 0;
  device::for_each_panel(tile, [&](const device::Rectangle& panel) {
    panels++;
    elements += static_cast<double>(panel.m) * panel.n;
  });
  EXPECT_EQ(panels, 8);
  EXPECT_EQ(elements, 4096.0 * 4096 * 9 / 16);
}

}  // namespace
}  // namespace tessera::test::partial_tile_cpp
