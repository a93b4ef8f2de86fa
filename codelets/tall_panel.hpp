// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "reflectors.hpp"

/// The factorization of a panel that is much taller than wide, in level-3 operations.
///
/// Cholesky QR twice: with the Cholesky factor R₁ of AᴴA, Q₁ = A R₁⁻¹ is the less orthonormal the larger the condition
/// of A. If Q₁ᴴQ₁ is near to I, the same step on Q₁ has a factor Q that is orthonormal to rounding (Yamamoto et al.,
/// 2015); else the panel is left to LAPACK or cuSOLVER.
///
/// The reflectors of Q follow from an LU factorization, Q − S = L U, where the signs S are chosen such that no pivot is
/// smaller than 1: V is L, and T is −U S L⁻ᴴ with the first rows of L (Ballard et al., 2015). R gets these signs.
namespace tessera::codelets {

/// Whether a panel is so tall that this takes less time than one column after another, which reads it many times.
template <Scalar T>
bool is_tall(const auto& on, const Tile<T>& A) {
  constexpr int fewest_columns = 8;
  return A.n >= fewest_columns && A.m / on.rows_of_tall_column >= A.n;
}

/// A − S = L U in place, where A is the top of a matrix with orthonormal columns.
template <Scalar T>
void factorize_with_signs(const auto& on, const Tile<T>& A, T* signs) {
  if (A.n <= on.leaf) return on.factorize_leaf(A, signs);
  const int half = (A.n / 2 + on.leaf - 1) / on.leaf * on.leaf;
  const auto left = columns_of(A, 0, half), right = columns_of(A, half, A.n);
  const auto first = rows_of(left, 0, half), upper = rows_of(right, 0, half), lower = rows_of(left, half, A.m),
             last = rows_of(right, half, A.m);
  factorize_with_signs(on, first, signs);
  on.trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, constant(first), upper);
  on.trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, constant(first), lower);
  multiply<T>(on, T(-1), Op::NoTrans, constant(lower), Op::NoTrans, constant(upper), T(1), last);
  factorize_with_signs(on, last, signs + half);
}

/// The workspace of a tall panel.
template <Scalar T>
struct TallPanel {
  Tile<T> first, second, product;  ///< R₁, R₂, and a matrix of the same order
  T *signs, *rest;

  /// @param memory  of `elements(k)`
  TallPanel(T* memory, int k)
      : first{memory, k, k, k}, second{memory + Index{k} * k, k, k, k}, product{memory + 2 * Index{k} * k, k, k, k},
        signs(memory + 3 * Index{k} * k), rest(signs + k) {}
  static Index elements(int k) { return 3 * Index{k} * k + k; }
};

/// A ← Q₁, with R₁ in `first` and Q₁ᴴQ₁ in `second`.
/// @return  false if that is not near enough to I: A is then as before, but for rounding
template <Scalar T>
bool orthogonalize(const auto& on, const Tile<T>& A, const TallPanel<T>& w) {
  constexpr double near = 0.25;
  on.gram(constant(A), w.first);
  if (!std::isfinite(on.distance_from_identity(w.first)) || !on.cholesky(w.first, w.rest)) return false;
  on.trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, constant(w.first), A);
  on.gram(constant(A), w.second);
  if (A.n * on.distance_from_identity(w.second) <= near && on.cholesky(w.second, w.rest)) return true;
  on.trmm(Side::Right, constant(w.first), A);
  return false;
}

/// The factorization of a tall panel, and the block of its reflectors.
/// @return  false if nothing was done, but for rounding
template <Scalar T>
bool factorize_tall(auto& on, const Tile<T>& A, T* tau, const Tile<T>& block) {
  const int k = A.n;
  T* const memory = on.workspace(TallPanel<T>::elements(k) + on.for_cholesky(A));
  if (memory == nullptr) return false;  // reported
  const TallPanel<T> w(memory, k);
  if (!orthogonalize(on, A, w)) return false;
  const auto top = rows_of(A, 0, k), below = rows_of(A, k, A.m);
  on.trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, constant(w.second), top);
  factorize_with_signs(on, top, w.signs);
  // V below: Q₁ (U R₂)⁻¹
  on.copy_upper(constant(top), nullptr, w.product);
  on.trmm(Side::Right, constant(w.second), w.product);
  on.trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, constant(w.product), below);
  const Tile<T> triangle = columns_of(block, 0, k), unit_lower = columns_of(block, k, 2 * k);
  on.unit_lower(constant(top), unit_lower);
  on.copy_upper(constant(top), w.signs, triangle);
  on.trsm(Side::Right, Uplo::Lower, adjoint_of<T>, Diag::Unit, constant(unit_lower), triangle);
  on.copy_diagonal(constant(triangle), tau);
  on.trmm(Side::Left, constant(w.second), w.first);
  on.set_upper(w.signs, constant(w.first), top);
  return true;
}

}  // namespace tessera::codelets
