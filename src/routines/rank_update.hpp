// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "blas/arguments.hpp"
#include "codelets/codelet.hpp"
#include "common/mirror.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "tiling/plan.hpp"
#include "unroll/accumulate.hpp"
#include "unroll/scale.hpp"

/// The common part of the symmetric and Hermitian updates: rank k with A alone, rank 2k with A and B.
namespace tessera::detail {

/// Submits the task of one term for a tile on the diagonal.
/// @param b  null for rank k
template <Scalar T, bool hermitian>
void submit_update_of_diagonal(unroll::Submitter& submitter, const codelets::Work& work, Uplo uplo, int first_row,
                               Op op, T alpha, const unroll::Access& a, const unroll::Access* b,
                               const unroll::Target<T>& target) {
  const unroll::Access c{target.handle, target.mode};
  if (b == nullptr) {
    const codelets::SyrkArgs<T> args{work, uplo, first_row, op, alpha, target.beta};
    if constexpr (hermitian) submitter.submit(codelets::herk<T>(), {a, c}, args, target.owner, target.wanted_next);
    else submitter.submit(codelets::syrk<T>(), {a, c}, args, target.owner, target.wanted_next);
  } else {
    const codelets::Syr2kArgs<T> args{work, uplo, first_row, op, alpha, target.beta};
    if constexpr (hermitian) submitter.submit(codelets::her2k<T>(), {a, *b, c}, args, target.owner, target.wanted_next);
    else submitter.submit(codelets::syr2k<T>(), {a, *b, c}, args, target.owner, target.wanted_next);
  }
}

/// One triangle of C ← α op(A) op(A)ᵀ + β C, or with B of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C. Hermitian updates
/// have ᴴ for ᵀ, and ᾱ in the second term.
/// @param B     null for rank k, which moves C from position 7 to 6
/// @param plan  by which the tiles were cut; null: they were given
template <Scalar T, bool hermitian>
void rank_update(const char* routine, Uplo uplo, Op op, T alpha, const Matrix<T>& A, const Matrix<T>* B, T beta,
                 const Matrix<T>& C, const Plan* plan = nullptr) {
  using namespace arguments;
  const int at_c = B != nullptr ? 7 : 6;
  require_legal(routine, first_of({illegal_uplo(1, uplo), illegal_op(2, "op", op, update_ops<T, hermitian>)}));
  Factor<T> first(A, op), second(B != nullptr ? *B : A, op);
  const auto P = first.seen(), Q = second.seen();
  require_equal(routine, 5, "B", "rows", Q.m(), "op(A)", P.m());
  require_equal(routine, 5, "B", "columns", Q.n(), "op(A)", P.n());
  require_square(routine, at_c, "C", C);
  require_equal(routine, at_c, "C", "rows", C.m(), "op(A)", P.m());
  require_writable(routine, at_c, "C", C);
  if (C.m() == 0) return;
  // A transposed view of C names the other triangle of the stored C. If the view is the conjugate of the stored C, all
  // operands are conjugated.
  const bool conjugate = conjugates<T, hermitian>(C);
  alpha = conjugated_if<T>(conjugate, alpha), beta = conjugated_if<T>(conjugate, beta);
  const Uplo triangle = flipped_if(is_transposed(C), uplo);
  const auto result = C.stored();
  const auto region = computed_tiles(routine, at_c, triangle, result);
  const auto& session = MatrixAccess::session(C);
  name_operand(A, 'A'), name_operand(C, 'C');
  if (B != nullptr) name_operand(*B, 'B');
  if (alpha == T{} || P.n() == 0) return unroll::submit_scale<T>(session, beta, result, region, hermitian);

  require_same_tiles(routine, 5, "B", "rows", row_cut(Q), "the rows of op(A)", row_cut(P));
  require_same_tiles(routine, 5, "B", "columns", column_cut(Q), "the columns of op(A)", column_cut(P));
  require_same_tiles(routine, at_c, "C", "rows", row_cut(result), "the rows of op(A)", row_cut(P));
  require_disjoint(routine, at_c, "C", C, "A", A);
  if (B != nullptr) require_disjoint(routine, at_c, "C", C, "B", *B);
  for (auto* factor : {&first, &second}) factor->conjugate = factor->conjugate != conjugate;
  if (first.conjugate != (first.transpose && hermitian)) refuse_conjugate(routine, 4, "A");
  require_operation(routine, 5, "B", second);
  if (second.op() != first.op())
    throw ArgumentError(routine, 5, "B", "must be seen through the same transpose as A: B would have to be transposed");
  const Op op_first = first.op(), op_second = codelets::other_factor<hermitian>(op_first);
  unroll::accumulate(
      session, plan != nullptr ? *plan : plan_of<T>(session.machine(), result, region, P), result, region, beta,
      [&](auto& submitter, const unroll::Step& s, const unroll::Target<T>& target) {
        const Index m = result.tile_m(s.i), n = result.tile_n(s.j), k = P.tile_n(s.k);
        const int first_row = region.first_row(s.j, result.nb());
        const auto term = [&](T factor, const Matrix<T>& X, const Matrix<T>& Y, const unroll::Target<T>& to) {
          const codelets::GemmArgs<T> args{
              {product_flops<T>(m, n, k), type_letter<T>}, op_first, op_second, factor, to.beta, first_row};
          const unroll::Access x{X.handle(s.i, s.k), STARPU_R}, y{Y.handle(s.j / region.across, s.k), STARPU_R};
          submitter.submit(codelets::gemm<T>(), {x, y, {to.handle, to.mode}}, args, to.owner, to.wanted_next);
        };
        if (target.on_diagonal) {
          const double flops = trapezoid_flops<T>(triangle, m, n, k, first_row);
          const codelets::Work work{B != nullptr ? 2 * flops : flops, type_letter<T>};
          const unroll::Access a{P.handle(s.i, s.k), STARPU_R}, b{Q.handle(s.i, s.k), STARPU_R};
          return submit_update_of_diagonal<T, hermitian>(submitter, work, triangle, first_row, op_first, alpha, a,
                                                         B != nullptr ? &b : nullptr, target);
        }
        term(alpha, P, Q, target);
        if (B != nullptr) term(conjugated_if<T>(hermitian, alpha), Q, P, target.again());
      });
}

/// The same on pointers, for arguments that have been checked.
///
/// Row-major memory, read as column-major, holds transposes. Cᵀ has the other triangle, and A Bᵀ is (Aᵀ)ᵀ Bᵀ: op
/// becomes the other one. For Hermitian updates Cᵀ is the conjugate of C, and α is conjugated.
/// @param rows  whether the matrices are row-major
/// @param two   true: rank 2k; false: rank k, without B and ldb
template <Scalar T, bool hermitian>
void rank_update_on_pointers(const char* routine, bool rows, bool two, Uplo uplo, Op op, Index n, Index k, T alpha,
                             const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc) {
  if (n == 0 || ((alpha == T{} || k == 0) && beta == T(1))) return;
  if (rows) {
    uplo = flipped(uplo), op = codelets::other_factor<hermitian>(op);
    alpha = conjugated_if<T>(hermitian, alpha);
  }
  const auto session = session_to_wait(routine);
  const auto plan = plan_triangle<T>(session->machine(), uplo, op, codelets::other_factor<false>(op), n, k,
                                     two ? TriangleOf::Rank2k : TriangleOf::RankK);
  const auto c = private_output(session, plan, C, n, n, ldc, uplo);
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    unroll::submit_scale<T>(*session, beta, c, computed_tiles(routine, 0, uplo, c), hermitian);
    return c.wait();
  }
  const auto a = stored_operand(session, op, A, n, k, lda, {plan.tile.m, plan.tile.k});
  std::optional<Matrix<T>> b;
  if (two) b = stored_operand(session, op, B, n, k, ldb, {plan.tile.m, plan.tile.k});
  rank_update<T, hermitian>(routine, uplo, op, alpha, a, b ? &*b : nullptr, beta, c, &plan);
  c.wait();
}

}  // namespace tessera::detail
