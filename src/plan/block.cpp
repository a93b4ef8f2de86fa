// SPDX-License-Identifier: BSD-3-Clause
#include "block.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::plan {

namespace {

/// The margin by which a block of C exceeds the minimum for the links, which do not always reach their full rate.
constexpr double block_margin = 2;

/// The order, in elements, of the smallest square of C for which the links keep up, if each GPU of the grid keeps such
/// a square while it goes through k. With b×b on each GPU, every loaded row or column is used b times. The bound is
/// that of Wu and JaJa, 4 (1/bm + 1/bn) F < BW for 8-byte elements, applied to the grid as a whole.
double smallest_block(const Machine& model, tile::OwnerGrid grid) {
  const auto& gpu = model.gpus.front();
  const double per_element = model.element_size / model.flops_per_multiply_add;
  return per_element * (1.0 / grid.p + 1.0 / grid.q) * gpu.kernels.at("gemm").best_rate() / gpu.in_rate;
}

}  // namespace

algorithms::Block choose_block(const Machine& model, int gpus, tile::TileExtents tile) {
  const bool alike = std::ranges::all_of(model.gpus, &Gpu::alike_first);
  if (gpus == 0) return {.tile_after_tile = alike};
  const auto grid = tile::owner_grid(gpus);
  const double side = block_margin * smallest_block(model, grid);
  const auto tiles_along = [&](Index extent) {
    return std::max<Index>(3, static_cast<Index>(std::ceil(side / static_cast<double>(extent))));
  };
  struct OnOneGpu {  // tiles of the block that one GPU owns
    Index rows, columns;
  };
  const auto inputs = [&](OnOneGpu p) {
    return model.bytes(p.rows * tile.m, tile.k) + model.bytes(tile.k, p.columns * tile.n);
  };
  // A GPU holds its tiles of C, one column and one row of input tiles, and such inputs again for the next term.
  const auto fits = [&](OnOneGpu p, int copies) {
    return model.memory <= 0 ||
           copies * model.bytes(p.rows * tile.m, p.columns * tile.n) + 2 * inputs(p) <= model.memory;
  };
  const auto shrink = [&](OnOneGpu p, OnOneGpu least) {
    const bool wide = p.columns * tile.n > p.rows * tile.m;
    if (p.columns > least.columns && (wide || p.rows == least.rows)) p.columns--;
    else p.rows--;
    return p;
  };
  OnOneGpu part{tiles_along(tile.m), tiles_along(tile.n)};
  // If the memory has room for two copies of a smaller block, that block starts sooner, because its sums need not wait
  // for C. The lower limit for such a block is the minimum for the links, without the margin.
  const auto half = [](Index tiles) {
    return std::max<Index>(1, tile::divide_up(tiles, static_cast<Index>(block_margin)));
  };
  const OnOneGpu least{half(part.rows), half(part.columns)};
  auto smaller = part;
  while ((smaller.rows > least.rows || smaller.columns > least.columns) && !fits(smaller, 2))
    smaller = shrink(smaller, least);
  const bool fits_twice = fits(smaller, 2);
  if (fits_twice) part = smaller;
  while ((part.rows > 1 || part.columns > 1) && !fits(part, 1)) part = shrink(part, {1, 1});
  algorithms::Block block{part.rows * grid.p, part.columns * grid.q, fits_twice, alike};
  if (model.memory > 0) {
    const double left = model.memory - model.bytes(part.rows * tile.m, part.columns * tile.n);
    block.resident = static_cast<Index>(std::max(0.0, left / inputs(part)));
  }
  return block;
}

}  // namespace tessera::plan
