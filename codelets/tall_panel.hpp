// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "reflectors.hpp"

/// The factorization of a panel that is much taller than wide, in level-3 operations.
///
/// This is Cholesky QR, applied twice. Let R₁ be the Cholesky factor of AᴴA. The larger the condition number of A, the
/// less orthonormal is Q₁ = A R₁⁻¹. The same step on Q₁ gives a factor that is orthonormal up to rounding, if the
/// condition number of A is less than about u^(−1/2) (Yamamoto et al., 2015). R₁ shows whether it is, before A is
/// overwritten. If not, LAPACK or cuSOLVER factorizes the panel.
///
/// The reflectors of Q follow from an LU factorization, Q − S = L U, where the signs S are chosen such that no pivot is
/// smaller than 1: V is L, and T is −U S L⁻ᴴ with the first rows of L (Ballard et al., 2015). The rows of R get these
/// signs.
namespace tessera::codelets {

/// Whether a panel is so tall that this takes less time than LAPACK's or cuSOLVER's factorization, which reads the
/// panel many times.
template <Scalar T>
bool is_tall(const auto& on, const Tile<T>& A) {
  constexpr int fewest_columns = 8;
  return A.n >= fewest_columns && A.m / on.rows_of_tall_column >= A.n;
}

/// The workspace of a tall panel.
template <Scalar T>
struct TallPanel {
  Tile<T> first, second, product;  ///< R₁, R₂, and a matrix of the same order
  T *signs, *diagonal, *rest;

  /// @param memory  has `elements(k)` elements
  TallPanel(T* memory, int k)
      : first{memory, k, k, k}, second{memory + Index{k} * k, k, k, k}, product{memory + 2 * Index{k} * k, k, k, k},
        signs(memory + 3 * Index{k} * k), diagonal(signs + k), rest(diagonal + k) {}
  static Index elements(int k) { return 3 * Index{k} * k + 2 * k; }
};

/// R₁ ← the Cholesky factor of AᴴA. Let D be the diagonal matrix of the lengths of A's columns. An error of one unit in
/// each product of columns then changes Q₁ᴴQ₁ by at most k u ‖D R₁⁻¹‖² in the Frobenius norm.
/// @return  this bound; infinity if there is no such factor
template <Scalar T>
double change_of_orthogonality(auto& on, const Tile<T>& A, const TallPanel<T>& w) {
  using R = Real<T>;
  constexpr double unit = std::numeric_limits<R>::epsilon() / 2;
  constexpr double largest_inverse = unit / std::numeric_limits<R>::min();  // otherwise products of elements underflow
  on.gram(constant(A), w.first);
  on.copy_diagonal(constant(w.first), w.diagonal);
  on.cholesky(w.first, w.rest);
  on.copy_upper(constant(w.first), nullptr, w.first);  // R₂ R₁ reads what is below the diagonal
  on.set_identity(w.product);
  on.trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, constant(w.first), w.product);
  on.measure(constant(w.product), w.diagonal, 0, 0);
  on.measure(constant(w.product), nullptr, 0, 1);
  const auto found = on.wait();
  const bool safe = found.is_definite && found.squares[1] <= largest_inverse;
  return safe ? A.n * unit * found.squares[0] : std::numeric_limits<double>::infinity();
}

/// A ← Q₁, with R₁ in `first`, and the Cholesky factor of Q₁ᴴQ₁, which is close to I, in `second`.
/// @return  false if the condition number of A is too large; A is then unchanged
template <Scalar T>
bool orthogonalize(auto& on, const Tile<T>& A, const TallPanel<T>& w) {
  constexpr double near = 0.25;        // allowed distance from I
  constexpr double most_units = 1024;  // more than long sums have: usually, the thread need not wait for a GPU again
  constexpr double margin = 64;
  constexpr int most_steps = 3;
  const double change = change_of_orthogonality(on, A, w);
  if (!(margin * change <= 1)) return false;
  for (int step = 0; step < most_steps; step++) {
    on.trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, constant(step == 0 ? w.first : w.second), A);
    if (step > 0) on.trmm(Side::Left, constant(w.second), w.first);
    on.gram(constant(A), w.second);
    if (most_units * change <= near) return on.cholesky(w.second, w.rest), true;
    on.measure(constant(w.second), nullptr, 1, 0);
    on.cholesky(w.second, w.rest);
    const auto found = on.wait();
    if (found.is_definite && found.squares[0] <= near * near) return true;
  }
  common::report_failure("geqrf: a panel does not become orthonormal");  // happens only if a device fails
  return false;
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

/// Factorizes a tall panel, and computes the block of its reflectors.
/// @return  false if the condition number of A is too large; A is then unchanged
template <Scalar T>
bool factorize_tall(auto& on, const Tile<T>& A, T* tau, const Tile<T>& block) {
  const int k = A.n;
  T* const memory = on.workspace(TallPanel<T>::elements(k) + on.for_cholesky(k));
  if (memory == nullptr) return false;  // the failure has been reported
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
