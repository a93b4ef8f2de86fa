// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include <tessera/types.hpp>

#include "machine/machine_rates.hpp"

namespace tessera::detail {

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// The number of sums into which the k terms of each element of a result of `tiles` tiles are split. It is more than
/// one only if there are fewer tiles than workers and each sum is long enough to pay for its addition. On two cores,
/// splitting into two sums of 256 terms paid, splitting into two sums of 64 did not.
constexpr Index sums_per_tile(Index workers, Index tiles, Index k) {
  constexpr Index shortest_sum = 200;
  return std::max<Index>(1, std::min(workers / std::max<Index>(1, tiles), k / shortest_sum));
}

/// A p×q grid of GPUs that share the tiles of a result.
struct OwnerGrid {
  int p = 1, q = 1;
  int size() const noexcept { return p * q; }
};

/// The grid of `gpus` devices that is closest to square, with p ≤ q. q of them need a tile of A, p of them a tile of B.
OwnerGrid owner_grid(int gpus);

/// The machine and the element type: what the choice of tiles depends on besides the shape of the call.
struct TileProblem {
  MachineRates rates;
  int cpu_workers = 1;
  int gpus = 0;
  double element_size = 8;
  double flops_per_multiply_add = 2;
  double gpu_memory = 0;  ///< bytes of each GPU; 0: not known

  double bytes(Index rows, Index columns) const {
    return element_size * static_cast<double>(rows) * static_cast<double>(columns);
  }
};

/// Tiles for C (m×n) ← op(A) (m×k) op(B) (k×n).
struct ProductTiles {
  Index m = 0, n = 0, k = 0;  ///< rows and columns of a tile of C, and the length of a chunk of k [elements]
  double seconds = 0;         ///< predicted time of the call
  std::string reason;         ///< one sentence for tessera-info
};

/// Whether the factors of a product are stored as their transposes. This matters for copies: their rate depends on the
/// height of a tile in memory.
struct Transposed {
  bool a = false, b = false;
};

/// The tiles with the shortest predicted time.
/// @param fixed  a tile size to use instead; 0: none
ProductTiles choose_product_tiles(const TileProblem& machine, Transposed stored, Index m, Index n, Index k,
                                  Index fixed);

/// The products of which a triangle is the sum: A B (gemmt), A Aᵀ (syrk, herk), or A Bᵀ and B Aᵀ (syr2k, her2k).
enum class TriangleOf { Product, RankK, Rank2k };
constexpr int products(TriangleOf what) { return what == TriangleOf::Rank2k ? 2 : 1; }

/// The same for a triangle of an n×n result. The rows of a tile are a multiple of its columns: equal for CPUs, equal or
/// more for GPUs.
ProductTiles choose_triangle_tiles(const TileProblem& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                   Index fixed);

/// The same for a symmetric matrix on one side of an m×n matrix. Its tiles are k×k, and the tiles of C have k rows
/// (Left) or k columns (Right).
ProductTiles choose_symmetric_tiles(const TileProblem& machine, Side side, Index m, Index n, Index fixed);

/// The same for a triangular matrix, applied in place.
/// @param inverse  true: trsm; false: trmm
ProductTiles choose_triangular_tiles(const TileProblem& machine, Side side, bool inverse, Index m, Index n,
                                     Index fixed);

/// Rows and columns of a tile of C, and the terms of the sum that one task adds to it [elements].
struct TileExtents {
  Index m = 1, n = 1, k = 1;
};

constexpr Index unlimited = std::numeric_limits<Index>::max();

/// A block of C: the tiles that are computed together before the next block begins.
struct Block {
  Index rows = 0, columns = 0;  ///< in tiles; 0: all of C is one block
  bool roomy = true;            ///< whether each GPU has room for two copies of its part of the block
  bool in_turn = true;          ///< whether each GPU may finish one tile after another
  Index kept = unlimited;       ///< terms whose input tiles fit in a GPU beside one copy of its part of the block
};

/// The smallest block for which the links can feed the GPUs, enlarged by a margin. The margin is reduced if two copies
/// of the block then fit the GPUs. If not even one copy fits with the margin, the block is the largest that fits once.
/// CPU workers need no blocks.
Block choose_block(const TileProblem& machine, TileExtents tile);

/// The size of square tiles for matrices whose use is not known yet: on GPUs the smallest size at which the kernel runs
/// at 0.9 of its best rate, on CPUs a constant. One machine and type have one size, so such matrices are conformable.
Index choose_default_tile(const TileProblem& machine);

}  // namespace tessera::detail
