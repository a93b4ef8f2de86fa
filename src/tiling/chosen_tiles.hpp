// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/types.hpp>

#include "edges.hpp"

namespace tessera::detail {

/// A product in tall panels. Copies of long columns are fast, so A, B and C are copied in panels that are as tall as
/// possible, while each task multiplies only a chunk of k. All loads are requested at the start, in the order in which
/// they are needed. There are these forms:
/// - A B: a tile of B spans several chunks of k, and each task uses the rows of one chunk. A arrives first, in chunks,
///   together with the first panels of B. Then panels of B and C arrive alternately, and each finished panel of C
///   leaves.
/// - A B with a triangular A, and A⁻¹ B, in place (trmm, trsm): as above, but a task applies a whole panel of A, its
///   triangle and the other rows, to a panel of B. Panels of B become the result. With a symmetric A (symm), a task
///   also applies the transpose of the other rows, and panels of C arrive and leave along with those of B.
/// - A Bᵀ: a tile of Bᵀ spans several tile columns of C. Each chunk of A and B that arrives is used for all of C, and C
///   arrives and leaves at the end. A Aᵀ and A Bᵀ + B Aᵀ (syrk, syr2k) take this form, too, but a task computes only
///   the part of a panel that lies in the triangle.
struct Panels {
  Index terms = 1;       ///< number of chunks of k in a tile of B
  Index columns = 1;     ///< number of tile columns of C in a tile of Bᵀ
  Index ahead = 0;       ///< number of panels of C that each GPU starts while A arrives; 0: no panels
  bool by_rows = false;  ///< whether GPUs own rows of C and share B, instead of owning columns and sharing A
  bool exist() const noexcept { return ahead > 0; }
};

/// Tiles for a result C, and the predicted time.
struct ChosenTiles {
  Index m = 0, n = 0, k = 0;  ///< rows and columns of a tile of C, and the length of a chunk of k [elements]
  double seconds = 0;         ///< predicted time of the call
  std::string reason;         ///< a sentence for tessera-info
  Panels panels = {};
  int gpus = 0;                      ///< number of GPUs that take part, counted from the first; 0: all
  LastTiles columns_for_cores = {};  ///< columns of the matrix that a triangle is applied to: see Plan
};

/// Whether the factors of a product are stored transposed. Copy rates depend on the height of a tile in memory.
struct Transposed {
  bool a = false, b = false;
};

/// The kind of product of which only one triangle is computed: A B (gemmt), A Aᵀ (syrk, herk), or A Bᵀ + B Aᵀ (syr2k,
/// her2k).
enum class TriangleOf { Product, RankK, Rank2k };
constexpr int products(TriangleOf what) { return what == TriangleOf::Rank2k ? 2 : 1; }

}  // namespace tessera::detail
