// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "triangular.hpp"

namespace tessera {

namespace {

/// Works in place, without a copy: rows are overwritten from the last to the first, each after all rows that need it
/// have read it. A row t of the last half is used, once loaded, for all results at once. The terms of the other half
/// are added result by result, so that results are written back one after another.
template <Scalar T>
void multiply(Side side, Uplo uplo, Op op, Diag diag, T alpha, const Matrix<T>& A, const Matrix<T>& B,
              const detail::Plan* plan) {
  detail::triangular<T>("trmm", side, uplo, op, diag, false, alpha, A, B, plan, [](unroll::Sweep<T>& sweep, T factor) {
    const Index rows = sweep.rows(), middle = rows / 2;
    for (const auto group : sweep.groups()) {
      for (Index t = rows - 1; t >= middle; t--) {
        for (Index x = 0; x < rows - 1 - t; x++)
          for (Index j = group.begin; j < group.end; j++)
            sweep.product(rows - 1 - sweep.term(j, x, rows - 1 - t), t, j, factor, T(1));
        sweep.diagonal(t, factor, group);
      }
      for (Index s = rows - 1; s >= 0; s--) {
        const Index terms = std::min(s, middle);
        if (s < middle) sweep.diagonal(s, factor, group);
        for (Index x = 0; x < terms; x++)
          for (Index j = group.begin; j < group.end; j++)
            sweep.product(s, terms - 1 - sweep.term(j, x, terms), j, factor, T(1));
      }
    }
  });
}

template <Scalar T>
void call(std::optional<Layout> layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
          Index lda, T* B, Index ldb) {
  detail::triangular_on_pointers<T>("trmm", layout, side, uplo, op, diag, false, m, n, alpha, A, lda, B, ldb,
                                    [&](Side s, Uplo u, const Matrix<T>& a, const Matrix<T>& b,
                                        const detail::Plan& plan) { multiply<T>(s, u, op, diag, alpha, a, b, &plan); });
}

}  // namespace

template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, std::type_identity_t<T> alpha, const Matrix<T>& A,
          const Matrix<T>& B) {
  multiply<T>(side, uplo, op, diag, alpha, A, B, nullptr);
}

template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha, const T* A,
          Index lda, T* B, Index ldb) {
  call<T>({}, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
}
template <Scalar T>
void trmm(Layout layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, std::type_identity_t<T> alpha,
          const T* A, Index lda, T* B, Index ldb) {
  call<T>(layout, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
}

#define INSTANTIATE(T)                                                                      \
  template void trmm<T>(Side, Uplo, Op, Diag, T, const Matrix<T>&, const Matrix<T>&);       \
  template void trmm<T>(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index); \
  template void trmm<T>(Layout, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera
