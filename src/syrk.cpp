// SPDX-License-Identifier: BSD-3-Clause
// syrk and herk: a triangle of a product of a matrix with its own transpose, or conjugate transpose.
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
  if constexpr (hermitian) return codelets::herk<T>();
  else return codelets::syrk<T>();
}

template <Scalar T, bool hermitian>
void update(const char* routine, Uplo uplo, Op op, T alpha, const Matrix<T>& A, T beta, const Matrix<T>& C) {
  using namespace arguments;
  require_legal(routine, first_of({illegal_uplo(1, uplo), illegal_op(2, "op", op, update_ops<T, hermitian>)}));
  Factor<T> factor(A, op);
  const auto P = factor.seen();
  require_square(routine, 6, "C", C);
  require_equal(routine, 6, "C", "rows", C.m(), "op(A)", P.m());
  require_writable(routine, 6, "C", C);
  if (C.m() == 0) return;
  // Cᵀ is C with the other triangle. Where that is its conjugate, all operands are conjugated.
  const bool conjugate = conjugates<T, hermitian>(C);
  alpha = conjugated_if<T>(conjugate, alpha), beta = conjugated_if<T>(conjugate, beta);
  const Uplo triangle = flipped_if(is_transposed(C), uplo);
  const auto part = codelets::part_of(triangle);
  const auto result = C.stored();
  const auto session = detail::session();
  require_same_tiles(routine, 6, "C", "rows", row_cut(C), "its columns", column_cut(C));
  if (alpha == T{} || P.n() == 0) return unroll::submit_scale<T>(*session, beta, result, part, hermitian);

  require_same_tiles(routine, 6, "C", "rows", row_cut(C), "the rows of op(A)", row_cut(P));
  require_disjoint(routine, 6, "C", C, "A", A);
  factor.conjugate = factor.conjugate != conjugate;
  if (factor.conjugate != (factor.transpose && hermitian)) refuse_conjugate(routine, 4, "A");
  const Op op_second = factor.transpose ? Op::NoTrans : mirror<hermitian>;
  unroll::accumulate(
      *session, result, part, P.nt(), P.n(), beta,
      [&](auto& submitter, const unroll::Step& s, const unroll::Target<T>& target) {
        const double flops = product_flops<T>(result.tile_m(s.i), result.tile_n(s.j), P.tile_n(s.k));
        const unroll::Access a{P.handle(s.i, s.k), STARPU_R}, b{P.handle(s.j, s.k), STARPU_R},
            c{target.handle, target.mode};
        if (target.triangle) {
          const codelets::SyrkArgs<T> args{{flops / 2, type_letter<T>}, triangle, factor.op(), alpha, target.beta};
          submitter.submit(diagonal_codelet<T, hermitian>(), {a, c}, args, target.owner, target.wanted_next);
        } else {
          const codelets::GemmArgs<T> args{{flops, type_letter<T>}, factor.op(), op_second, alpha, target.beta};
          submitter.submit(codelets::gemm<T>(), {a, b, c}, args, target.owner, target.wanted_next);
        }
      });
}

template <Scalar T, bool hermitian>
void compute(const char* routine, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C,
             Index ldc) {
  if (n == 0 || ((alpha == T{} || k == 0) && beta == T(1))) return;
  const auto session = detail::session();
  const auto tiles = plan_triangle<T>(*session, n, k, 1);
  const auto c = private_output(C, n, n, ldc, {tiles.m, tiles.n});
  if (alpha == T{} || k == 0) {  // A is not read, and may be null
    unroll::submit_scale<T>(*session, beta, c, codelets::part_of(uplo), hermitian);
    return c.wait();
  }
  const auto a = stored_operand(op, A, n, k, lda, {tiles.m, tiles.k});
  update<T, hermitian>(routine, uplo, op, alpha, a, beta, c);
  c.wait();
}

/// What is stored by rows is, by columns, the transpose: Cᵀ has the other triangle, and A Aᵀ is (Aᵀ)ᵀ Aᵀ. With ᴴ the
/// conjugate of C is computed, which is its transpose.
template <Scalar T, bool hermitian>
void call(const char* routine, std::optional<Layout> layout, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A,
          Index lda, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      routine,
      arguments::RankKCall{{sizeof(T), rows}, update_ops<T, hermitian>, uplo, op, n, k, A, lda, C, ldc, alpha != T{}},
      layout);
  const Op by_columns = !rows ? op : op == Op::NoTrans ? mirror<hermitian> : Op::NoTrans;
  compute<T, hermitian>(routine, flipped_if(rows, uplo), by_columns, n, k, alpha, A, lda, beta, C, ldc);
}

}  // namespace

template <Scalar T>
void syrk(Uplo uplo, Op op, std::type_identity_t<T> alpha, const Matrix<T>& A, std::type_identity_t<T> beta,
          const Matrix<T>& C) {
  update<T, false>("syrk", uplo, op, alpha, A, beta, C);
}
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Real<T> alpha, const Matrix<T>& A, Real<T> beta, const Matrix<T>& C) {
  update<T, true>("herk", uplo, op, alpha, A, beta, C);
}

template <Scalar T>
void syrk(Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
          std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syrk", {}, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}
template <Scalar T>
void syrk(Layout layout, Uplo uplo, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda,
          std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("syrk", layout, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc) {
  call<T, true>("herk", {}, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}
template <ComplexScalar T>
void herk(Layout layout, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
          Index ldc) {
  call<T, true>("herk", layout, uplo, op, n, k, alpha, A, lda, beta, C, ldc);
}

#define INSTANTIATE(routine, T, Factor)                                                         \
  template void routine<T>(Uplo, Op, Factor, const Matrix<T>&, Factor, const Matrix<T>&);       \
  template void routine<T>(Uplo, Op, Index, Index, Factor, const T*, Index, Factor, T*, Index); \
  template void routine<T>(Layout, Uplo, Op, Index, Index, Factor, const T*, Index, Factor, T*, Index);
INSTANTIATE(syrk, float, float)
INSTANTIATE(syrk, double, double)
INSTANTIATE(syrk, std::complex<float>, std::complex<float>)
INSTANTIATE(syrk, std::complex<double>, std::complex<double>)
INSTANTIATE(herk, std::complex<float>, float)
INSTANTIATE(herk, std::complex<double>, double)
#undef INSTANTIATE

}  // namespace tessera
