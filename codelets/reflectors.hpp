// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "panel_steps.hpp"

/// Operations with the reflectors of a panel, for the codelets of QR factorization: products on a core or a GPU.
namespace tessera::codelets {

/// The reflectors of a panel: V is unit lower trapezoidal, and all of its first k rows are in `top`.
template <Scalar T>
struct Reflectors {
  Tile<const T> triangle, top, below;

  /// @param panel  the panel, from the first row of its diagonal on
  Reflectors(const Tile<const T>& panel, const Tile<const T>& block)
      : triangle(columns_of(block, 0, block.m)), top(columns_of(block, block.m, 2 * block.m)),
        below(rows_of(columns_of(panel, 0, block.m), block.m, panel.m)) {}
  int count() const { return top.n; }
};

/// Makes the block of a factorized panel. T is (I + D S)⁻¹ D, where D has tau on its diagonal, and S is the part of Vᴴ
/// V above its diagonal. Unlike LAPACK's computation column by column, this uses level-3 operations. It does not divide
/// by tau, which may be zero.
template <Scalar T>
void make_block(auto& on, const Tile<T>& panel, const T* tau, const Tile<T>& block) {
  const Reflectors<T> V(constant(panel), constant(block));
  const int k = V.count();
  const Tile<T> triangle = columns_of(block, 0, k), products{on.workspace(Index{k} * k), k, k, std::max(k, 1)};
  if (products.data == nullptr) return;  // the failure has been reported
  on.unit_lower(constant(panel), columns_of(block, k, 2 * k));
  multiply<T>(on, T(1), adjoint_of<T>, V.top, Op::NoTrans, V.top, T{}, products);
  multiply<T>(on, T(1), adjoint_of<T>, V.below, Op::NoTrans, V.below, T(1), products);
  on.scale_rows(tau, products);
  on.set_diagonal(tau, triangle);
  on.trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::Unit, constant(products), triangle);
}

/// C ← op(Q) C (Left), or C op(Q) (Right), where op(Q) is Q or its adjoint. C begins with the row (Left) or column
/// (Right) of the panel's first reflector.
template <Scalar T>
void apply(auto& on, const Reflectors<T>& V, Side side, bool adjoint, const Tile<T>& C) {
  const int k = V.count();
  const Op op = adjoint ? adjoint_of<T> : Op::NoTrans;
  const auto multiply_by = [&](T alpha, Op op_a, const Tile<const T>& A, Op op_b, const Tile<const T>& B, T beta,
                               const Tile<T>& product) { multiply<T>(on, alpha, op_a, A, op_b, B, beta, product); };
  const bool left = side == Side::Left;
  const int others = left ? C.n : C.m;
  T* const memory = on.workspace(2 * Index{k} * others);
  if (memory == nullptr) return;  // the failure has been reported
  const int m = left ? k : others, n = left ? others : k;
  const Tile<T> W{memory, m, n, std::max(m, 1)}, Z{memory + Index{k} * others, m, n, std::max(m, 1)};
  if (left) {
    const auto top = rows_of(C, 0, k), below = rows_of(C, k, C.m);
    multiply_by(T(1), adjoint_of<T>, V.top, Op::NoTrans, constant(top), T{}, W);
    multiply_by(T(1), adjoint_of<T>, V.below, Op::NoTrans, constant(below), T(1), W);
    multiply_by(T(1), op, V.triangle, Op::NoTrans, constant(W), T{}, Z);
    multiply_by(T(-1), Op::NoTrans, V.top, Op::NoTrans, constant(Z), T(1), top);
    multiply_by(T(-1), Op::NoTrans, V.below, Op::NoTrans, constant(Z), T(1), below);
  } else {
    const auto first = columns_of(C, 0, k), rest = columns_of(C, k, C.n);
    multiply_by(T(1), Op::NoTrans, constant(first), Op::NoTrans, V.top, T{}, W);
    multiply_by(T(1), Op::NoTrans, constant(rest), Op::NoTrans, V.below, T(1), W);
    multiply_by(T(1), Op::NoTrans, constant(W), op, V.triangle, T{}, Z);
    multiply_by(T(-1), Op::NoTrans, constant(Z), adjoint_of<T>, V.top, T(1), first);
    multiply_by(T(-1), Op::NoTrans, constant(Z), adjoint_of<T>, V.below, T(1), rest);
  }
}

/// A panel, from the first row of its diagonal on, ← the first columns of I − V T Vᴴ. V is overwritten slice by slice,
/// each of some rows, so that a copy of one slice is enough workspace.
template <Scalar T>
void generate(auto& on, const Tile<T>& panel, const Tile<const T>& block) {
  constexpr int slice = 4096;
  const Reflectors<T> V(constant(panel), block);
  const int k = V.count(), rows = std::min(slice, V.below.m);
  T* const memory = on.workspace(Index{k} * (k + rows));
  if (memory == nullptr) return;  // the failure has been reported
  const Tile<T> product{memory, k, k, std::max(k, 1)};
  multiply<T>(on, T(1), Op::NoTrans, V.triangle, adjoint_of<T>, V.top, T{}, product);
  for (int begin = k; begin < panel.m; begin += slice) {
    const auto A = rows_of(panel, begin, std::min(begin + slice, panel.m));
    const Tile<T> before{memory + Index{k} * k, A.m, k, std::max(A.m, 1)};
    on.copy(constant(A), before);
    multiply<T>(on, T(-1), Op::NoTrans, constant(before), Op::NoTrans, constant(product), T{}, A);
  }
  const auto top = rows_of(panel, 0, k);
  on.set_identity(top);
  multiply<T>(on, T(-1), Op::NoTrans, V.top, Op::NoTrans, constant(product), T(1), top);
}

}  // namespace tessera::codelets
