// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "tall_panel.hpp"

/// The factorization of a panel of any shape.
///
/// A panel that is not tall is cut into halves: the left half is factorized, and its reflections are applied to the
/// right half. Then the right half is factorized without its first rows, which belong to R. This goes on until the
/// parts are tall, and are factorized by products (Elmroth and Gustavson, IBM J. Res. Dev. 44(4), 2000). LAPACK and
/// cuSOLVER factorize one column after another, which reads a panel many times, and takes a few kernels for each column
/// on a GPU.
namespace tessera::codelets {

/// The width of the parts into which a panel is cut; 0: the parts would have too few columns for products.
template <Scalar T>
int width_of_halves(const auto& on, const Tile<T>& A) {
  constexpr int grain = 32;
  const int width = std::min(A.m / on.rows_of_tall_column, on.widest_half) / grain * grain;
  return width >= on.narrowest_half ? width : 0;
}

/// The columns of the left half, a whole number of parts; 0: the panel is not cut.
template <Scalar T>
int columns_of_left_half(const auto& on, const Tile<T>& A) {
  const int width = width_of_halves(on, A), parts = width > 0 ? (A.n + width - 1) / width : 1;
  return parts > 1 && A.n <= A.m ? (parts + 1) / 2 * width : 0;
}

/// A ← its factors, tau ← the scalar factors of its reflectors.
/// @param block  receives the block of the reflectors; until then, it is workspace for the blocks of the parts
/// @param used   whether the block is used
template <Scalar T>
void factorize_panel(auto& on, const Tile<T>& A, T* tau, const Tile<T>& block, bool used = true) {
  if (is_tall(on, A) && factorize_tall(on, A, tau, block)) return;
  if (const int half = columns_of_left_half(on, A); half > 0) {
    const auto of_part = [&](int columns) { return Tile<T>{block.data, columns, 2 * columns, block.ld}; };
    const auto left = columns_of(A, 0, half), right = columns_of(A, half, A.n);
    factorize_panel(on, left, tau, of_part(half));
    apply(on, Reflectors<T>(constant(left), constant(of_part(half))), Side::Left, true, right);
    factorize_panel(on, rows_of(right, half, A.m), tau + half, of_part(right.n), false);
  } else on.factorize(A, tau);
  if (used) make_block(on, A, tau, block);
}

}  // namespace tessera::codelets
