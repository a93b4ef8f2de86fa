// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "common/symmetry.hpp"
#include "host_lapack.hpp"
#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "device_reflectors.hpp"
#include "device_triangle.hpp"
#endif

/// The steps of a QR factorization on a core and on a GPU, under the same names: so the factorization is written once.
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

  /// @return  null if there is no memory, which has been reported
  T* workspace(Index elements) {
    try {
      memory_.resize(static_cast<std::size_t>(elements));
    } catch (const std::bad_alloc&) {
      report_failure("geqrf: no memory for " + std::to_string(elements) + " elements of workspace");
      return nullptr;
    }
    return memory_.data();
  }
  void factorize(const Tile<T>& A, T* tau) {
    T best{};
    host::geqrf(A.m, A.n, A.data, A.ld, tau, &best, -1);
    const int elements = std::max(A.n, static_cast<int>(std::real(best)));
    if (T* const memory = workspace(elements); memory != nullptr)
      host::geqrf(A.m, A.n, A.data, A.ld, tau, memory, elements);
  }
  /// B ← op(A)⁻¹ B, or B op(A)⁻¹
  void trsm(Side side, Uplo uplo, Op op, Diag diag, const Tile<const T>& A, const Tile<T>& B) const {
    if (B.m > 0) host::trsm<T>(side, uplo, op, diag, B.m, B.n, T(1), A.data, A.ld, B.data, B.ld);
  }
  /// B ← A B, or B A, with the upper triangle of A
  void trmm(Side side, const Tile<const T>& A, const Tile<T>& B) const {
    host::trmm<T>(side, Uplo::Upper, Op::NoTrans, Diag::NonUnit, B.m, B.n, T(1), A.data, A.ld, B.data, B.ld);
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
  void trsm(Side side, Uplo uplo, Op op, Diag diag, const Tile<const T>& A, const Tile<T>& B) const {
    if (B.m > 0)
      check("trsm", device::trsm<T>(handle, side, uplo, op, diag, B.m, B.n, T(1), A.data, A.ld, B.data, B.ld));
  }
  void trmm(Side side, const Tile<const T>& A, const Tile<T>& B) const {
    check("trmm", device::trmm<T>(handle, side, Uplo::Upper, Op::NoTrans, Diag::NonUnit, B.m, B.n, T(1), A.data, A.ld,
                                  B.data, B.ld));
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

}  // namespace tessera::codelets
