// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/symmetry.hpp"
#include "host_lapack.hpp"
#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "device_reflectors.hpp"
#include "device_triangle.hpp"
#endif

/// What the codelets of QR factorization do with the reflectors of a panel, in products on a core or a GPU.
namespace tessera::codelets {

template <Scalar T>
inline constexpr Op adjoint_of = symmetry<is_complex<T>>;

template <typename T>
Tile<const T> constant(const Tile<T>& A) {
  return {A.data, A.m, A.n, A.ld};
}
/// Rows [begin, end), and the columns [begin, end).
template <typename T>
Tile<T> rows_of(const Tile<T>& A, int begin, int end) {
  return {A.data + begin, end - begin, A.n, A.ld};
}
template <typename T>
Tile<T> columns_of(const Tile<T>& A, int begin, int end) {
  return {element(A, 0, begin), A.m, end - begin, A.ld};
}

/// C ← α op(A) op(B) + β C
template <Scalar T>
void multiply(const auto& blas, T alpha, Op op_a, const Tile<const T>& A, Op op_b, const Tile<const T>& B, T beta,
              const Tile<T>& C) {
  const int k = op_a == Op::NoTrans ? A.n : A.m;
  if (C.m > 0 && C.n > 0 && (k > 0 || beta != T(1)))
    blas.gemm(op_a, op_b, C.m, C.n, k, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
}

/// What a core does besides products.
template <Scalar T>
class PanelOnHost : public OnHost {
 public:
  explicit PanelOnHost(const OnHost& /*blas*/) {}

  T* workspace(Index elements) {
    memory_.resize(static_cast<std::size_t>(elements));
    return memory_.data();
  }
  void factorize(const Tile<T>& A, T* tau) {
    T best{};
    host::geqrf(A.m, A.n, A.data, A.ld, tau, &best, -1);
    const int elements = std::max(A.n, static_cast<int>(std::real(best)));
    host::geqrf(A.m, A.n, A.data, A.ld, tau, workspace(elements), elements);
  }
  void solve(const Tile<T>& unit_upper, const Tile<T>& B) const {
    host::trsm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::Unit, B.m, B.n, T(1), unit_upper.data, unit_upper.ld,
                  B.data, B.ld);
  }
  void unit_lower(const Tile<const T>& A, const Tile<T>& V) const {
    for_each(V, [&](int i, int j, T& v) { v = i > j ? *element(A, i, j) : i == j ? T(1) : T{}; });
  }
  void scale_rows(const T* factors, const Tile<T>& C) const {
    for_each(C, [&](int i, int /*j*/, T& c) { c *= factors[i]; });
  }
  void set_diagonal(const T* diagonal, const Tile<T>& C) const {
    for_each(C, [&](int i, int j, T& c) { c = i == j ? diagonal[i] : T{}; });
  }
  void set_identity(const Tile<T>& C) const {
    for_each(C, [](int i, int j, T& c) { c = i == j ? T(1) : T{}; });
  }
  void clear(const Tile<T>& C) const {
    for_each(C, [](int /*i*/, int /*j*/, T& c) { c = T{}; });
  }
  void copy(const Tile<const T>& A, const Tile<T>& C) const {
    for_each(C, [&](int i, int j, T& c) { c = *element(A, i, j); });
  }

 private:
  static void for_each(const Tile<T>& C, auto visit) {
    for (int j = 0; j < C.n; j++)
      for (int i = 0; i < C.m; i++) visit(i, j, *element(C, i, j));
  }

  std::vector<T> memory_;
};

#ifdef TESSERA_WITH_CUDA
/// The same of a GPU, asynchronous. Without memory for the workspace, which has been reported, nothing is computed.
template <Scalar T>
class PanelOnDevice : public OnDevice {
 public:
  explicit PanelOnDevice(const OnDevice& on) : OnDevice(on) {}

  T* workspace(Index elements) const {
    return static_cast<T*>(device::solver_workspace(static_cast<std::size_t>(elements) * sizeof(T)));
  }
  void factorize(const Tile<T>& A, T* tau) const {
    const auto& solver = device::local_solver();
    if (solver.handle == nullptr) return;  // reported
    int elements = 0;
    check("geqrf", device::geqrf_workspace(solver.handle, A.m, A.n, A.data, A.ld, &elements));
    if (T* const memory = workspace(elements); memory != nullptr)
      check("geqrf", device::geqrf(solver.handle, A.m, A.n, A.data, A.ld, tau, memory, elements, solver.info));
  }
  void solve(const Tile<T>& unit_upper, const Tile<T>& B) const {
    check("trsm", device::trsm<T>(handle, Side::Left, Uplo::Upper, Op::NoTrans, Diag::Unit, B.m, B.n, T(1),
                                  unit_upper.data, unit_upper.ld, B.data, B.ld));
  }
  void unit_lower(const Tile<const T>& A, const Tile<T>& V) const {
    check("unit_lower", device::unit_lower(device::local_stream(), V.m, A.data, A.ld, V.data, V.ld));
  }
  void scale_rows(const T* factors, const Tile<T>& C) const {
    check("scale_rows", device::scale_rows(device::local_stream(), C.m, C.n, factors, C.data, C.ld));
  }
  void set_diagonal(const T* diagonal, const Tile<T>& C) const {
    clear(C);
    check("copy", device::copy<T>(handle, C.n, diagonal, 1, C.data, C.ld + 1));
  }
  void set_identity(const Tile<T>& C) const {
    clear(C);
    for (int first = 0; first < C.n; first += device::leaf)
      device::set_unit_diagonal<T>(std::min(device::leaf, C.n - first), element(C, first, first), C.ld);
  }
  void clear(const Tile<T>& C) const {
    if (C.m > 0 && C.n > 0) codelets::clear(C);
  }
  void copy(const Tile<const T>& A, const Tile<T>& C) const {
    check("copy", device::scale<T>(handle, C.m, C.n, T(1), A.data, A.ld, C.data, C.ld));
  }
};
#endif

/// The reflectors of a panel: V is unit lower trapezoidal, and all of its first k rows are in `top`.
template <Scalar T>
struct Reflectors {
  Tile<const T> triangle, top, below;

  /// @param panel  from the first row of the diagonal on
  Reflectors(const Tile<const T>& panel, const Tile<const T>& block)
      : triangle(columns_of(block, 0, block.m)), top(columns_of(block, block.m, 2 * block.m)),
        below(rows_of(columns_of(panel, 0, block.m), block.m, panel.m)) {}
  int count() const { return top.n; }
};

/// Makes the block of a factorized panel. T is (I + D S)⁻¹ D, where D has tau on its diagonal, and S is what lies above
/// the diagonal of Vᴴ V: level-3 operations, unlike column by column, and no division by a tau that is zero.
template <Scalar T>
void make_block(auto& on, const Tile<T>& panel, const T* tau, const Tile<T>& block) {
  const Reflectors<T> V(constant(panel), constant(block));
  const int k = V.count();
  const Tile<T> triangle = columns_of(block, 0, k), products{on.workspace(Index{k} * k), k, k, std::max(k, 1)};
  if (products.data == nullptr) return;  // reported
  on.unit_lower(constant(panel), columns_of(block, k, 2 * k));
  multiply<T>(on, T(1), adjoint_of<T>, V.top, Op::NoTrans, V.top, T{}, products);
  multiply<T>(on, T(1), adjoint_of<T>, V.below, Op::NoTrans, V.below, T(1), products);
  on.scale_rows(tau, products);
  on.set_diagonal(tau, triangle);
  on.solve(products, triangle);
}

/// C ← Q C (Left), or C Q (Right), or with the adjoint of Q. C begins with the row, or the column, of the diagonal.
template <Scalar T>
void apply(auto& on, const Reflectors<T>& V, Side side, bool adjoint, const Tile<T>& C) {
  const int k = V.count();
  const Op op = adjoint ? adjoint_of<T> : Op::NoTrans;
  const auto multiply_by = [&](T alpha, Op op_a, const Tile<const T>& A, Op op_b, const Tile<const T>& B, T beta,
                               const Tile<T>& product) { multiply<T>(on, alpha, op_a, A, op_b, B, beta, product); };
  const bool left = side == Side::Left;
  const int others = left ? C.n : C.m;
  T* const memory = on.workspace(2 * Index{k} * others);
  if (memory == nullptr) return;  // reported
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

/// A panel, from the first row of the diagonal on, ← the first columns of I − V T Vᴴ. V is overwritten by slices of
/// rows, so that a copy of one is enough.
template <Scalar T>
void generate(auto& on, const Tile<T>& panel, const Tile<const T>& block) {
  constexpr int slice = 4096;
  const Reflectors<T> V(constant(panel), block);
  const int k = V.count(), rows = std::min(slice, V.below.m);
  T* const memory = on.workspace(Index{k} * (k + rows));
  if (memory == nullptr) return;  // reported
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
