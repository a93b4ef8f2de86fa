// SPDX-License-Identifier: BSD-3-Clause
// syr2k and her2k: a triangle of the sum of two products that are each other's transpose, or conjugate transpose.
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

namespace {

template <Scalar T, bool hermitian>
starpu_codelet& diagonal_codelet() {
  if constexpr (hermitian) return codelets::her2k<T>();
  else return codelets::syr2k<T>();
}

template <Scalar T, bool hermitian>
void update(const char* routine, Uplo uplo, Op op, T alpha, const Matrix<T>& A, const Matrix<T>& B, T beta,
            const Matrix<T>& C) {
  using namespace arguments;
  require_legal(routine, first_of({illegal_uplo(1, uplo), illegal_op(2, "op", op, update_ops<T, hermitian>)}));
  Factor<T> first(A, op), second(B, op);
  const auto P = first.seen(), Q = second.seen();
  require_equal(routine, 5, "B", "rows", Q.m(), "op(A)", P.m());
  require_equal(routine, 5, "B", "columns", Q.n(), "op(A)", P.n());
  require_square(routine, 7, "C", C);
  require_equal(routine, 7, "C", "rows", C.m(), "op(A)", P.m());
  require_writable(routine, 7, "C", C);
  if (C.m() == 0) return;
  // Cᵀ is C with the other triangle. Where that is its conjugate, all operands are conjugated.
  const bool conjugate = conjugates<T, hermitian>(C);
  alpha = conjugated_if<T>(conjugate, alpha), beta = conjugated_if<T>(conjugate, beta);
  const Uplo triangle = flipped_if(is_transposed(C), uplo);
  const auto part = codelets::part_of(triangle);
  const auto result = C.stored();
  const auto session = detail::session();
  require_same_tiles(routine, 7, "C", "rows", row_cut(C), "its columns", column_cut(C));
  if (alpha == T{} || P.n() == 0) return unroll::submit_scale<T>(*session, beta, result, part, hermitian);

  require_same_tiles(routine, 5, "B", "rows", row_cut(Q), "the rows of op(A)", row_cut(P));
  require_same_tiles(routine, 5, "B", "columns", column_cut(Q), "the columns of op(A)", column_cut(P));
  require_same_tiles(routine, 7, "C", "rows", row_cut(C), "the rows of op(A)", row_cut(P));
  require_disjoint(routine, 7, "C", C, "A", A);
  require_disjoint(routine, 7, "C", C, "B", B);
  for (auto* factor : {&first, &second}) factor->conjugate = factor->conjugate != conjugate;
  if (first.conjugate != (first.transpose && hermitian)) refuse_conjugate(routine, 4, "A");
  require_operation(routine, 5, "B", second);
  if (second.op() != first.op())
    throw ArgumentError(routine, 5, "B", "must be seen through the same transpose as A: B would have to be transposed");
  const Op op_first = first.op(), op_second = first.transpose ? Op::NoTrans : mirror<hermitian>;
  unroll::accumulate(
      *session, result, part, P.nt(), P.n(), beta,
      [&](auto& submitter, const unroll::Step& s, const unroll::Target<T>& target) {
        const codelets::Work work{product_flops<T>(result.tile_m(s.i), result.tile_n(s.j), P.tile_n(s.k)),
                                  type_letter<T>};
        const auto term = [&](T factor, const Matrix<T>& X, const Matrix<T>& Y, const unroll::Target<T>& to) {
          const codelets::GemmArgs<T> args{work, op_first, op_second, factor, to.beta};
          submitter.submit(codelets::gemm<T>(),
                           {{X.handle(s.i, s.k), STARPU_R}, {Y.handle(s.j, s.k), STARPU_R}, {to.handle, to.mode}}, args,
                           to.owner, to.wanted_next);
        };
        if (target.triangle) {
          const codelets::Syr2kArgs<T> args{work, triangle, op_first, alpha, target.beta};
          submitter.submit(
              diagonal_codelet<T, hermitian>(),
              {{P.handle(s.i, s.k), STARPU_R}, {Q.handle(s.i, s.k), STARPU_R}, {target.handle, target.mode}}, args,
              target.owner, target.wanted_next);
        } else {
          term(alpha, P, Q, target);
          term(conjugated_if<T>(hermitian, alpha), Q, P, target.again());
        }
      });
}

template <Scalar T, bool hermitian>
void compute(const char* routine, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B,
             Index ldb, T beta, T* C, Index ldc) {
  if (n == 0 || ((alpha == T{} || k == 0) && beta == T(1))) return;
  const auto session = detail::session();
  const auto tiles = plan_triangle<T>(*session, n, k, 2);
  const auto c = private_output(C, n, n, ldc, {tiles.m, tiles.n});
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    unroll::submit_scale<T>(*session, beta, c, codelets::part_of(uplo), hermitian);
    return c.wait();
  }
  const auto a = stored_operand(op, A, n, k, lda, {tiles.m, tiles.k}),
             b = stored_operand(op, B, n, k, ldb, {tiles.m, tiles.k});
  update<T, hermitian>(routine, uplo, op, alpha, a, b, beta, c);
  c.wait();
}

/// What is stored by rows is, by columns, the transpose: Cᵀ has the other triangle, and A Bᵀ is (Aᵀ)ᵀ Bᵀ. With ᴴ, Cᵀ is
/// the conjugate of C, and α is conjugated.
template <Scalar T, bool hermitian>
void call(const char* routine, std::optional<Layout> layout, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A,
          Index lda, const T* B, Index ldb, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      routine,
      arguments::Rank2kCall{
          {sizeof(T), rows}, update_ops<T, hermitian>, uplo, op, n, k, A, lda, B, ldb, C, ldc, alpha != T{}},
      layout);
  const Op by_columns = !rows ? op : op == Op::NoTrans ? mirror<hermitian> : Op::NoTrans;
  compute<T, hermitian>(routine, flipped_if(rows, uplo), by_columns, n, k, conjugated_if<T>(rows && hermitian, alpha),
                        A, lda, B, ldb, beta, C, ldc);
}

}  // namespace

template <Scalar T>
void syr2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
           std::type_identity_t<T> beta, const Matrix<T>& C) {
  update<T, false>("syr2k", uplo, op, alpha, A, B, beta, C);
}
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B, Real<T> beta,
           const Matrix<T>& C) {
  update<T, true>("her2k", uplo, op, alpha, A, B, beta, C);
}

template <Scalar T>
void syr2k(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
           Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syr2k", {}, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <Scalar T>
void syr2k(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syr2k", layout, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
           Index ldb, Real<T> beta, T* C, Index ldc) {
  call<T, true>("her2k", {}, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <ComplexScalar T>
void her2k(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
           const T* B, Index ldb, Real<T> beta, T* C, Index ldc) {
  call<T, true>("her2k", layout, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define INSTANTIATE(routine, T, Beta)                                                                     \
  template void routine<T>(Uplo, Op, T, const Matrix<T>&, const Matrix<T>&, Beta, const Matrix<T>&);      \
  template void routine<T>(Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, Beta, T*, Index); \
  template void routine<T>(Layout, Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, Beta, T*, Index);
INSTANTIATE(syr2k, float, float)
INSTANTIATE(syr2k, double, double)
INSTANTIATE(syr2k, std::complex<float>, std::complex<float>)
INSTANTIATE(syr2k, std::complex<double>, std::complex<double>)
INSTANTIATE(her2k, std::complex<float>, float)
INSTANTIATE(her2k, std::complex<double>, double)
#undef INSTANTIATE

}  // namespace tessera
