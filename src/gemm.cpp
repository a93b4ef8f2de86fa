// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "arguments.hpp"
#include "codelets/codelet.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "planning.hpp"
#include "session.hpp"
#include "unroll/accumulate.hpp"
#include "unroll/scale.hpp"

namespace tessera {

using namespace detail;

template <Scalar T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C) {
  using namespace arguments;
  require_legal("gemm", first_of({illegal_op(1, "op_a", op_a), illegal_op(2, "op_b", op_b)}));
  const Factor<T> left(A, op_a), right(B, op_b);
  const auto a = left.seen(), b = right.seen();
  require_equal("gemm", 5, "B", "rows", b.m(), "the columns of op(A)", a.n());
  require_equal("gemm", 7, "C", "rows", C.m(), "the rows of op(A)", a.m());
  require_equal("gemm", 7, "C", "columns", C.n(), "the columns of op(B)", b.n());
  require_writable("gemm", 7, "C", C);
  if (C.m() == 0 || C.n() == 0) return;
  const auto session = detail::session();
  // Cᵀ ← α A B + β Cᵀ is C ← α Bᵀ Aᵀ + β C, and with the conjugate transpose the scalars are conjugated, too.
  const bool turned = is_transposed(C), conjugate = is_conjugated(C);
  alpha = conjugated_if<T>(conjugate, alpha), beta = conjugated_if<T>(conjugate, beta);
  if (alpha == T{} || a.n() == 0) return unroll::submit_scale<T>(*session, beta, C.stored());

  require_same_tiles("gemm", 5, "B", "rows", row_cut(b), "columns of op(A)", column_cut(a));
  require_same_tiles("gemm", 7, "C", "rows", row_cut(C), "rows of op(A)", row_cut(a));
  require_same_tiles("gemm", 7, "C", "columns", column_cut(C), "columns of op(B)", column_cut(b));
  require_disjoint("gemm", 7, "C", C, "A", A);
  require_disjoint("gemm", 7, "C", C, "B", B);
  const auto first = turned ? right.transposed(conjugate) : left, second = turned ? left.transposed(conjugate) : right;
  require_operation("gemm", turned ? 5 : 4, turned ? "B" : "A", first);
  require_operation("gemm", turned ? 4 : 5, turned ? "A" : "B", second);

  const auto P = first.seen(), Q = second.seen(), result = C.stored();
  unroll::accumulate(
      *session, result, unroll::Part::All, P.nt(), P.n(), beta,
      [&](auto& submitter, const unroll::Step& s, const unroll::Target<T>& target) {
        const double flops = product_flops<T>(result.tile_m(s.i), result.tile_n(s.j), P.tile_n(s.k));
        const codelets::GemmArgs<T> args{{flops, type_letter<T>}, first.op(), second.op(), alpha, target.beta};
        submitter.submit(codelets::gemm<T>(),
                         {{P.handle(s.i, s.k), STARPU_R}, {Q.handle(s.k, s.j), STARPU_R}, {target.handle, target.mode}},
                         args, target.owner, target.wanted_next);
      });
}

namespace {

template <Scalar T>
void compute(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta,
             T* C, Index ldc) {
  if (m == 0 || n == 0 || ((alpha == T{} || k == 0) && beta == T(1))) return;
  const auto session = detail::session();
  const auto tiles = plan_product<T>(*session, m, n, k);
  const auto c = private_output(C, m, n, ldc, {tiles.m, tiles.n});
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    unroll::submit_scale<T>(*session, beta, c);
    return c.wait();
  }
  const auto a = stored_operand(op_a, A, m, k, lda, {tiles.m, tiles.k}),
             b = stored_operand(op_b, B, k, n, ldb, {tiles.k, tiles.n});
  gemm<T>(op_a, op_b, alpha, a, b, beta, c);
  c.wait();
}

/// What is stored by rows is, by columns, the transpose: Cᵀ ← α op(B)ᵀ op(A)ᵀ + β Cᵀ.
template <Scalar T>
void call(std::optional<Layout> layout, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda,
          const T* B, Index ldb, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      "gemm", arguments::ProductCall{{sizeof(T), rows}, op_a, op_b, m, n, k, A, lda, B, ldb, C, ldc, alpha != T{}},
      layout);
  if (rows) compute<T>(op_b, op_a, n, m, k, alpha, B, ldb, A, lda, beta, C, ldc);
  else compute<T>(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

}  // namespace

template <Scalar T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T>({}, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <Scalar T>
void gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::type_identity_t<T> alpha, const T* A,
          Index lda, const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T>(layout, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define INSTANTIATE(T)                                                                                   \
  template void gemm<T>(Op, Op, T, const Matrix<T>&, const Matrix<T>&, T, const Matrix<T>&);             \
  template void gemm<T>(Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index); \
  template void gemm<T>(Layout, Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera
