// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "triangular.hpp"

namespace tessera {

namespace {

/// Row s is solved after the solutions of all rows before it have been subtracted. No task waits for a whole row: each
/// tile starts its sum with the solutions that are available.
template <Scalar T>
void solve(Side side, Uplo uplo, Op op, Diag diag, T alpha, const Matrix<T>& A, const Matrix<T>& B,
           const detail::Plan* plan) {
  detail::triangular<T>("trsm", side, uplo, op, diag, true, alpha, A, B, plan, [](unroll::Sweep<T>& sweep, T factor) {
    for (const auto group : sweep.groups())
      for (Index s = 0; s < sweep.rows(); s++) {
        for (Index x = 0; x < s; x++)
          for (Index j = group.begin; j < group.end; j++)
            sweep.product(s, sweep.term(j, x, s), j, T(-1), x == 0 ? factor : T(1));
        sweep.diagonal(s, s == 0 ? factor : T(1), group);
      }
  });
}

template <Scalar T>
void call(std::optional<Layout> layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
          Index lda, T* B, Index ldb) {
  detail::triangular_on_pointers<T>("trsm", layout, side, uplo, op, diag, true, m, n, alpha, A, lda, B, ldb,
                                    [&](Side s, Uplo u, const Matrix<T>& a, const Matrix<T>& b,
                                        const detail::Plan& plan) { solve<T>(s, u, op, diag, alpha, a, b, &plan); });
}

}  // namespace

template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, std::type_identity_t<T> alpha, const Matrix<T>& A,
          const Matrix<T>& B) {
  solve<T>(side, uplo, op, diag, alpha, A, B, nullptr);
}

template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha, const T* A,
          Index lda, T* B, Index ldb) {
  call<T>({}, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
}
template <Scalar T>
void trsm(Layout layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha,
          const T* A, Index lda, T* B, Index ldb) {
  call<T>(layout, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
}

#define INSTANTIATE(T)                                                                      \
  template void trsm<T>(Side, Uplo, Op, Diag, T, const Matrix<T>&, const Matrix<T>&);       \
  template void trsm<T>(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index); \
  template void trsm<T>(Layout, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera
