// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "common/symmetry.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "device_triangle.hpp"
#include "devices/cuda/reflector_kernels.hpp"
#endif

/// The steps of a QR factorization on a core and on a GPU. They have the same names, so that the factorization is
/// written only once.
namespace tessera::codelets {

template <Scalar T>
inline constexpr Op adjoint_of = common::symmetry(is_complex<T>);

template <typename T>
Tile<const T> constant(const Tile<T>& A) {
  return {A.data, A.m, A.n, A.ld};
}
/// Rows [begin, end) of a tile. `columns_of` selects columns.
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

/// Results of the steps since the last wait.
struct Measured {
  bool is_definite;   ///< whether `cholesky` has found a factor
  double squares[2];  ///< the sums of `measure`; NaN spreads
};

/// The steps on a core, except products.
template <Scalar T>
class PanelOnHost : public device::OnHost {
 public:
  explicit PanelOnHost(const OnHost& /*blas*/) {}

  /// @return  workspace; null if there is no memory, which has been reported
  T* workspace(Index elements) {
    try {
      memory_.resize(static_cast<std::size_t>(elements));
    } catch (const std::bad_alloc&) {
      common::report_failure("geqrf: no memory for " + std::to_string(elements) + " elements of workspace");
      return nullptr;
    }
    return memory_.data();
  }
  void factorize(const Tile<T>& A, T* tau) {
    T best{};
    device::cpu::geqrf(A.m, A.n, A.data, A.ld, tau, &best, -1);
    const int elements = std::max(A.n, static_cast<int>(std::real(best)));
    if (T* const memory = workspace(elements); memory != nullptr)
      device::cpu::geqrf(A.m, A.n, A.data, A.ld, tau, memory, elements);
  }
  /// B ← op(A)⁻¹ B, or B op(A)⁻¹
  void trsm(Side side, Uplo uplo, Op op, Diag diag, const Tile<const T>& A, const Tile<T>& B) const {
    if (B.m > 0) device::cpu::trsm<T>(side, uplo, op, diag, B.m, B.n, T(1), A.data, A.ld, B.data, B.ld);
  }
  /// B ← A B, or B A, with the upper triangle of A
  void trmm(Side side, const Tile<const T>& A, const Tile<T>& B) const {
    device::cpu::trmm<T>(side, Uplo::Upper, Op::NoTrans, Diag::NonUnit, B.m, B.n, T(1), A.data, A.ld, B.data, B.ld);
  }
  /// The upper triangle of C ← the upper triangle of Aᴴ A
  void gram(const Tile<const T>& A, const Tile<T>& C) const {
    if constexpr (is_complex<T>)
      herk(Uplo::Upper, Op::ConjTrans, C.n, A.m, Real<T>(1), A.data, A.ld, Real<T>{}, C.data, C.ld);
    else syrk(Uplo::Upper, Op::Trans, C.n, A.m, T(1), A.data, A.ld, T{}, C.data, C.ld);
  }
  /// The number of workspace elements that `cholesky` needs.
  Index for_cholesky(int /*order*/) const { return 0; }
  /// The upper triangle of C ← its Cholesky factor.
  void cholesky(const Tile<T>& C, T* /*workspace*/) {
    found_.is_definite = device::cpu::potrf(Uplo::Upper, C.n, C.data, C.ld) == 0;
  }
  /// squares[at] ← the sum of |C − s I|² over the upper triangle, with row i weighted by the real part of weights[i].
  /// @param weights  if null, all weights are 1
  void measure(const Tile<const T>& C, const T* weights, double s, int at) {
    double sum = 0;
    for (int j = 0; j < C.n; j++)
      for (int i = 0; i <= j; i++) {
        const auto c = std::complex<double>(*element(C, i, j)) - (i == j ? s : 0.0);
        sum += (weights == nullptr ? 1.0 : static_cast<double>(std::real(weights[i]))) * std::norm(c);
      }
    found_.squares[at] = sum;
  }
  Measured wait() const { return found_; }
  static constexpr int rows_of_tall_column = 16;               ///< see `is_tall`
  static constexpr int narrowest_half = 32, widest_half = 64;  ///< see `width_of_halves`
  static constexpr int leaf = 16;                              ///< the largest order for `factorize_leaf`
  /// A − S = L U in place, where the diagonal matrix S has the signs ±1 that make the pivots largest.
  void factorize_leaf(const Tile<T>& A, T* signs) const {
    for (int k = 0; k < A.n; k++) {
      T& pivot = *element(A, k, k);
      signs[k] = T(std::real(pivot) < 0 ? 1 : -1);
      pivot -= signs[k];
      for (int i = k + 1; i < A.n; i++) *element(A, i, k) /= pivot;
      for (int j = k + 1; j < A.n; j++)
        for (int i = k + 1; i < A.n; i++) *element(A, i, j) -= *element(A, i, k) * *element(A, k, j);
    }
  }
  /// C ← the upper triangle of A, or if `signs` is not null, of −A S, with zeros below.
  void copy_upper(const Tile<const T>& A, const T* signs, const Tile<T>& C) const {
    for_each(C, [&](int i, int j, T& c) {
      c = i > j ? T{} : signs == nullptr ? *element(A, i, j) : -signs[j] * *element(A, i, j);
    });
  }
  /// The upper triangle of A ← the upper triangle of S R.
  void set_upper(const T* signs, const Tile<const T>& R, const Tile<T>& A) const {
    for_each(A, [&](int i, int j, T& a) { a = i > j ? a : signs[i] * *element(R, i, j); });
  }
  void copy_diagonal(const Tile<const T>& A, T* diagonal) const {
    for (int i = 0; i < A.n; i++) diagonal[i] = *element(A, i, i);
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
  Measured found_{};
};

#ifdef TESSERA_WITH_CUDA
/// The steps on a GPU, which are asynchronous. If there is no memory for workspace, a failure is reported, and the
/// steps compute nothing.
template <Scalar T>
class PanelOnDevice : public device::OnDevice {
 public:
  explicit PanelOnDevice(const device::OnDevice& on) : device::OnDevice(on) {}

  T* workspace(Index elements) const {
    return static_cast<T*>(device::cuda::solver_workspace(static_cast<std::size_t>(elements) * sizeof(T)));
  }
  void factorize(const Tile<T>& A, T* tau) const {
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr) return;  // the failure has been reported
    int elements = 0;
    if (!device::check("geqrf", device::cuda::geqrf_workspace(solver.handle, A.m, A.n, A.data, A.ld, &elements)))
      return;
    if (T* const memory = workspace(elements); memory != nullptr)
      device::check("geqrf",
                    device::cuda::geqrf(solver.handle, A.m, A.n, A.data, A.ld, tau, memory, elements, solver.info));
  }
  void trsm(Side side, Uplo uplo, Op op, Diag diag, const Tile<const T>& A, const Tile<T>& B) const {
    if (B.m > 0)
      device::check("trsm",
                    device::cuda::trsm<T>(handle, side, uplo, op, diag, B.m, B.n, T(1), A.data, A.ld, B.data, B.ld));
  }
  void trmm(Side side, const Tile<const T>& A, const Tile<T>& B) const {
    device::check("trmm", device::cuda::trmm<T>(handle, side, Uplo::Upper, Op::NoTrans, Diag::NonUnit, B.m, B.n, T(1),
                                                A.data, A.ld, B.data, B.ld));
  }
  /// Computes a product, because cuBLAS splits the long sums of gemm, but not those of syrk.
  void gram(const Tile<const T>& A, const Tile<T>& C) const {
    multiply<T>(*this, T(1), adjoint_of<T>, A, Op::NoTrans, A, T{}, C);
  }
  Index for_cholesky(int order) {
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr ||
        !device::check("potrf", device::cuda::potrf_workspace<T>(solver.handle, Uplo::Upper, order, nullptr, order,
                                                                 &for_cholesky_)))
      for_cholesky_ = unknown;
    return std::max(0, for_cholesky_);
  }
  void cholesky(const Tile<T>& C, T* workspace) const {
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr || for_cholesky_ == unknown) return;  // the failure has been reported
    device::check("potrf", device::cuda::potrf<T>(solver.handle, Uplo::Upper, C.n, C.data, C.ld, workspace,
                                                  for_cholesky_, solver.info));
  }
  void measure(const Tile<const T>& C, const T* weights, double s, int at) const {
    static_assert(2 * device::cuda::parts_of_squares * sizeof(double) <= device::cuda::results_bytes);
    auto* const parts = static_cast<double*>(device::cuda::local_results()) + at * device::cuda::parts_of_squares;
    std::fill_n(parts, device::cuda::parts_of_squares, std::numeric_limits<double>::quiet_NaN());  // if a kernel fails
    device::check("measure",
                  device::cuda::sum_squares(device::cuda::local_stream(), C.n, C.data, C.ld, weights, s, parts));
  }
  Measured wait() const {
    const auto status = device::cuda::wait_for(device::cuda::local_stream());
    device::check("a factorization", status);
    const auto& solver = device::cuda::local_solver();
    const auto* const parts = static_cast<const double*>(device::cuda::local_results());
    const auto sum = [&](int at) {
      return std::accumulate(parts + at * device::cuda::parts_of_squares,
                             parts + (at + 1) * device::cuda::parts_of_squares, 0.0);
    };
    return {status == device::cuda::success && solver.handle != nullptr && *solver.info == 0, {sum(0), sum(1)}};
  }
  static constexpr int rows_of_tall_column = 64;  ///< columns of panels that are less tall stay in the caches
  static constexpr int narrowest_half = 64, widest_half = 128;
  static constexpr int leaf = device::cuda::leaf_with_signs;
  void factorize_leaf(const Tile<T>& A, T* signs) const {
    device::check("leaf",
                  device::cuda::factorize_leaf_with_signs(device::cuda::local_stream(), A.n, A.data, A.ld, signs));
  }
  void copy_upper(const Tile<const T>& A, const T* signs, const Tile<T>& C) const {
    device::check("copy_upper",
                  device::cuda::copy_upper(device::cuda::local_stream(), C.n, A.data, A.ld, signs, C.data, C.ld));
  }
  void set_upper(const T* signs, const Tile<const T>& R, const Tile<T>& A) const {
    device::check("set_upper",
                  device::cuda::set_upper(device::cuda::local_stream(), R.n, signs, R.data, R.ld, A.data, A.ld));
  }
  void copy_diagonal(const Tile<const T>& A, T* diagonal) const {
    device::check("copy", device::cuda::copy<T>(handle, A.n, A.data, A.ld + Index{1}, diagonal));
  }
  void unit_lower(const Tile<const T>& A, const Tile<T>& V) const {
    device::check("unit_lower",
                  device::cuda::unit_lower(device::cuda::local_stream(), V.m, A.data, A.ld, V.data, V.ld));
  }
  void scale_rows(const T* factors, const Tile<T>& C) const {
    device::check("scale_rows",
                  device::cuda::scale_rows(device::cuda::local_stream(), C.m, C.n, factors, C.data, C.ld));
  }
  void set_diagonal(const T* diagonal, const Tile<T>& C) const {
    clear(C);
    device::check("copy", device::cuda::copy<T>(handle, C.n, diagonal, 1, C.data, C.ld + Index{1}));
  }
  void set_identity(const Tile<T>& C) const {
    clear(C);
    for (int first = 0; first < C.n; first += device::cuda::leaf)
      device::cuda::set_unit_diagonal<T>(std::min(device::cuda::leaf, C.n - first), element(C, first, first), C.ld);
  }
  void clear(const Tile<T>& C) const {
    if (C.m > 0 && C.n > 0) codelets::clear(C);
  }
  void copy(const Tile<const T>& A, const Tile<T>& C) const {
    device::check("copy", device::cuda::scale<T>(handle, C.m, C.n, T(1), A.data, A.ld, C.data, C.ld));
  }

 private:
  static constexpr int unknown = -1;
  int for_cholesky_ = unknown;
};
#endif

}  // namespace tessera::codelets
