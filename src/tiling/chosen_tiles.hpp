// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/types.hpp>

namespace tessera::detail {

/// Tiles for a result C, and what was expected of them.
struct ChosenTiles {
  Index m = 0, n = 0, k = 0;  ///< rows and columns of a tile of C, and the length of a chunk of k [elements]
  double seconds = 0;         ///< predicted time of the call
  std::string reason;         ///< one sentence for tessera-info
};

/// Whether the factors of a product are stored as their transposes. This matters for copies: their rate depends on the
/// height of a tile in memory.
struct Transposed {
  bool a = false, b = false;
};

/// The products of which a triangle is the sum: A B (gemmt), A Aᵀ (syrk, herk), or A Bᵀ and B Aᵀ (syr2k, her2k).
enum class TriangleOf { Product, RankK, Rank2k };
constexpr int products(TriangleOf what) { return what == TriangleOf::Rank2k ? 2 : 1; }

}  // namespace tessera::detail
