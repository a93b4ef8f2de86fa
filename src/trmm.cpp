// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "planning.hpp"
#include "session.hpp"
#include "triangular.hpp"

namespace tessera {

/// From the last row to the first, so that every row is read by those that need it before it is overwritten: in place,
/// without a copy.
template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, std::type_identity_t<T> alpha, const Matrix<T>& A,
          const Matrix<T>& B) {
  detail::triangular<T>("trmm", side, uplo, op, diag, false, alpha, A, B, [](unroll::Sweep<T>& sweep, T factor) {
    for (const auto group : sweep.groups()) {
      for (Index s = sweep.rows() - 1; s >= 0; s--) sweep.prefetch_result(s, group);  // the first sum reads all rows
      for (Index s = sweep.rows() - 1; s >= 0; s--) {
        sweep.diagonal(s, factor, group);
        for (Index x = 0; x < s; x++)
          for (Index j = group.begin; j < group.end; j++) sweep.product(s, sweep.term(s, j, x), j, factor, T(1));
      }
    }
  });
}

namespace {

template <Scalar T>
void call(std::optional<Layout> layout, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
          Index lda, T* B, Index ldb) {
  detail::triangular_on_pointers<T>(
      "trmm", layout, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb,
      [&](Side s, Uplo u, const Matrix<T>& a, const Matrix<T>& b) { trmm<T>(s, u, op, diag, alpha, a, b); });
}

}  // namespace

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
