// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include <tessera/types.hpp>

#include "machine_rates.hpp"

namespace tessera::detail {

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// Into how many sums the k terms of each element of a result in `tiles` tiles are split: more than one only if there
/// are fewer tiles than workers, and if each sum is long enough to pay for its addition. On two cores, halves of 256
/// terms paid, those of 64 did not.
constexpr Index sums_per_tile(Index workers, Index tiles, Index k) {
  constexpr Index shortest_sum = 200;
  return std::max<Index>(1, std::min(workers / std::max<Index>(1, tiles), k / shortest_sum));
}

/// A p×q grid of GPUs that share the tiles of a result.
struct OwnerGrid {
  int p = 1, q = 1;
  int size() const noexcept { return p * q; }
};

/// The grid of `gpus` devices that is closest to square: a tile of A is then wanted by q of them, one of B by p.
OwnerGrid owner_grid(int gpus);

/// What the choice of tiles depends on.
struct TileProblem {
  MachineRates rates;
  int cpu_workers = 1;
  int gpus = 0;
  double element_size = 8;
  double flops_per_multiply_add = 2;
  double gpu_memory = 0;  ///< bytes of each; 0: not known

  double bytes(Index rows, Index columns) const {
    return element_size * static_cast<double>(rows) * static_cast<double>(columns);
  }
};

/// Tiles for C (m×n) ← op(A) (m×k) op(B) (k×n).
struct ProductTiles {
  Index m = 0, n = 0, k = 0;  ///< rows and columns of a tile of C, and the chunk of the sum
  double seconds = 0;         ///< predicted
  std::string reason;         ///< one sentence for tessera-info
};

/// Which factors of a product are stored as their transposes: how high their tiles are in memory decides how fast they
/// are copied.
struct Transposed {
  bool a = false, b = false;
};

/// Those with the shortest predicted time. `fixed` > 0: that tile size.
ProductTiles choose_product_tiles(const TileProblem& machine, Transposed stored, Index m, Index n, Index k,
                                  Index fixed);

/// What a triangle is computed from: the product of two matrices, a matrix and its own transpose, or two of them and
/// each other's.
enum class TriangleOf { Product, RankK, Rank2k };
constexpr int products(TriangleOf what) { return what == TriangleOf::Rank2k ? 2 : 1; }

/// The same for a triangle of an n×n result: its tiles are square, or on GPUs higher than wide, by a whole factor.
ProductTiles choose_triangle_tiles(const TileProblem& machine, Transposed stored, Index n, Index k, TriangleOf what,
                                   Index fixed);

/// The same for a symmetric matrix on one side of an m×n matrix: k is the size of its square tiles, and m or n is the
/// same.
ProductTiles choose_symmetric_tiles(const TileProblem& machine, Side side, Index m, Index n, Index fixed);

/// The same for a triangular matrix, applied in place.
/// @param inverse  whether it is solved with
ProductTiles choose_triangular_tiles(const TileProblem& machine, Side side, bool inverse, Index m, Index n,
                                     Index fixed);

/// Rows and columns of a tile of C, and the terms of the sum that one task adds to it.
struct TileExtents {
  Index m = 1, n = 1, k = 1;
};

constexpr Index unlimited = std::numeric_limits<Index>::max();

/// Rows and columns of tiles that are computed together before the next block of C begins.
struct Block {
  Index rows = 0, columns = 0;  ///< 0: all of C is one block
  bool roomy = true;            ///< whether each GPU has room for two copies of its part
  bool in_turn = true;          ///< whether each GPU may finish one tile after another
  Index kept = unlimited;       ///< terms of the sum whose input tiles it has room for, beside one copy
};

/// The smallest block for which the links can feed the GPUs, with a margin, if the GPUs have room for it: else the
/// largest that fits. CPU workers need no blocks.
Block choose_block(const TileProblem& machine, TileExtents tile);

/// Square tiles for matrices whose use is not known yet: the smallest size at which the kernel runs at 0.9 of its best
/// rate. One size for a machine and a type, so that such matrices fit together.
Index choose_default_tile(const TileProblem& machine);

}  // namespace tessera::detail
