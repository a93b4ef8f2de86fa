// SPDX-License-Identifier: BSD-3-Clause
// The tile operation of LU factorization without pivoting.
#include <algorithm>
#include <cstddef>

#include "kernel.hpp"
#include "not_finite.hpp"
#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/magnitude.hpp"
#include "devices/cuda/solver.hpp"
#endif

namespace tessera::codelets {

namespace {

/// The index of the first of `count` diagonal elements that is exactly zero, or `count`.
template <Scalar T>
int first_zero(const T* diagonal, std::ptrdiff_t stride, int count) {
  int i = 0;
  while (i < count && diagonal[i * stride] != T{}) i++;
  return i;
}

/// Factorizes a small matrix, column by column.
template <Scalar T>
void eliminate(Uplo unit, const Tile<T>& A) {
  for (int k = 0; k < std::min(A.m, A.n); k++) {
    const T pivot = *element(A, k, k);
    const auto divide = [pivot](T* x) { *x = quotient(*x, pivot); };
    if (unit == Uplo::Lower)
      for (int i = k + 1; i < A.m; i++) divide(element(A, i, k));
    else
      for (int j = k + 1; j < A.n; j++) divide(element(A, k, j));
    for (int j = k + 1; j < A.n; j++)
      for (int i = k + 1; i < A.m; i++) *element(A, i, j) -= product(*element(A, i, k), *element(A, k, j));
  }
}

/// Factorizes recursively by halves, so that nearly all of the work is in products.
/// @param unit  selects the factor with the unit diagonal
template <Scalar T>
void factorize_by_halves(Uplo unit, const Tile<T>& A) {
  constexpr int small = 16;
  const int half = std::min(A.m, A.n) / 2;
  if (half < small) return eliminate(unit, A);
  const Tile<T> right{element(A, 0, half), half, A.n - half, A.ld}, below{element(A, half, 0), A.m - half, half, A.ld},
      rest{element(A, half, half), A.m - half, A.n - half, A.ld};
  const auto diag = [&](Uplo factor) { return factor == unit ? Diag::Unit : Diag::NonUnit; };
  factorize_by_halves<T>(unit, {A.data, half, half, A.ld});
  device::cpu::trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, diag(Uplo::Lower), right.m, right.n, T(1), A.data, A.ld,
                       right.data, A.ld);
  device::cpu::trsm<T>(Side::Right, Uplo::Upper, Op::NoTrans, diag(Uplo::Upper), below.m, below.n, T(1), A.data, A.ld,
                       below.data, A.ld);
  device::cpu::gemm<T>(Op::NoTrans, Op::NoTrans, rest.m, rest.n, half, T(-1), below.data, A.ld, right.data, A.ld, T(1),
                       rest.data, A.ld);
  factorize_by_halves<T>(unit, rest);
}

template <Scalar T>
struct GetrfNopiv {
  using Args = GetrfNopivArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    factorize_by_halves(args.unit, A);
    const int count = std::min(A.m, A.n), zero = first_zero(A.data, A.ld + std::ptrdiff_t{1}, count);
    if (zero < count) args.value->report(args.first + zero + 1);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr) return;  // the failure has been reported
    // In cuSOLVER, the lower factor has the unit diagonal. If the upper factor must have it, cuSOLVER gets the
    // transpose.
    const bool transposed = args.unit == Uplo::Upper;
    const int m = transposed ? A.n : A.m, n = transposed ? A.m : A.n, ld = transposed ? A.n : A.ld;
    auto& report = device::cuda::new_report();
    int elements = 0;
    if (!device::check("getrf_nopiv", device::cuda::getrf_workspace<T>(solver.handle, m, n, A.data, ld, &elements)))
      return;
    constexpr std::size_t alignment = 64;
    const auto own = (static_cast<std::size_t>(elements) + alignment - 1) / alignment * alignment,
               copy = transposed ? static_cast<std::size_t>(m) * static_cast<std::size_t>(n) : 0;
    auto* const workspace = static_cast<T*>(device::cuda::solver_workspace((own + copy) * sizeof(T)));
    if (workspace == nullptr) return;  // the failure has been reported
    T* const target = transposed ? workspace + own : A.data;
    if (transposed) device::check("transpose", device::cuda::transpose<T>(on.handle, m, n, A.data, A.ld, target, ld));
    device::check("getrf_nopiv", device::cuda::getrf<T>(solver.handle, m, n, target, ld, workspace, nullptr,
                                                        &report.info));  // null means no pivoting
    if (transposed) device::check("transpose", device::cuda::transpose<T>(on.handle, n, m, target, ld, A.data, A.ld));
    // Searches the diagonal itself, because cuSOLVER's info may miss values that are not finite, as that of potrf does.
    const int count = std::min(A.m, A.n);
    device::check("getrf_nopiv",
                  device::cuda::first_zero<T>(device::cuda::local_stream(), count, A.data, A.ld, &report.on_diagonal));
    device::when_complete([&report, count, first = args.first, value = args.value] {
      if (report.on_diagonal < count) value->report(first + report.on_diagonal + 1);
    });
  }
#endif
};

}  // namespace

starpu_codelet& getrf_nopiv(char type) { return codelet_of<GetrfNopiv>(type, "getrf_nopiv"); }

}  // namespace tessera::codelets
