// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include "blas/arguments.hpp"
#include "codelets/codelet.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "tiling/plan.hpp"
#include "unroll/accumulate.hpp"
#include "unroll/scale.hpp"

/// What gemm and gemmt have in common: all but what is computed of a tile on the diagonal.
namespace tessera::detail {

/// C ← α op(A) op(B) + β C, or if there is `uplo`, then the first argument, a triangle of it.
/// @param plan  by which the tiles were cut; null: they were given
template <Scalar T>
void product(const char* routine, std::optional<Uplo> uplo, Op op_a, Op op_b, T alpha, const Matrix<T>& A,
             const Matrix<T>& B, T beta, const Matrix<T>& C, const Plan* plan = nullptr) {
  using namespace arguments;
  const int before = uplo ? 1 : 0;  // arguments before op_a
  const int at_a = before + 4, at_b = before + 5, at_c = before + 7;
  require_legal(routine, first_of({uplo ? illegal_uplo(1, *uplo) : Argument{}, illegal_op(before + 1, "op_a", op_a),
                                   illegal_op(before + 2, "op_b", op_b)}));
  const Factor<T> left(A, op_a), right(B, op_b);
  const auto a = left.seen(), b = right.seen();
  require_equal(routine, at_b, "B", "rows", b.m(), "the columns of op(A)", a.n());
  if (uplo) require_square(routine, at_c, "C", C);
  require_equal(routine, at_c, "C", "rows", C.m(), "the rows of op(A)", a.m());
  require_equal(routine, at_c, "C", "columns", C.n(), "the columns of op(B)", b.n());
  require_writable(routine, at_c, "C", C);
  if (C.m() == 0 || C.n() == 0) return;
  const auto& session = MatrixAccess::session(C);
  name_operand(A, 'A'), name_operand(B, 'B'), name_operand(C, 'C');
  // Cᵀ ← α A B + β Cᵀ is C ← α Bᵀ Aᵀ + β C, and with the conjugate transpose the scalars are conjugated, too. What was
  // a triangle of Cᵀ is the other one of C.
  const bool turned = is_transposed(C), conjugate = is_conjugated(C);
  alpha = conjugated_if<T>(conjugate, alpha), beta = conjugated_if<T>(conjugate, beta);
  const auto result = C.stored();
  if (uplo) uplo = flipped_if(turned, *uplo);
  const auto region = computed_tiles(routine, at_c, uplo, result);
  if (alpha == T{} || a.n() == 0) return unroll::submit_scale<T>(session, beta, result, region);

  require_same_tiles(routine, at_b, "B", "rows", row_cut(b), "columns of op(A)", column_cut(a));
  require_same_tiles(routine, at_c, "C", "rows", row_cut(C), "rows of op(A)", row_cut(a));
  require_same_tiles(routine, at_c, "C", "columns", column_cut(C), "columns of op(B)", column_cut(b));
  require_disjoint(routine, at_c, "C", C, "A", A);
  require_disjoint(routine, at_c, "C", C, "B", B);
  const auto first = turned ? right.transposed(conjugate) : left, second = turned ? left.transposed(conjugate) : right;
  require_operation(routine, turned ? at_b : at_a, turned ? "B" : "A", first);
  require_operation(routine, turned ? at_a : at_b, turned ? "A" : "B", second);

  const auto P = first.seen(), Q = second.seen();
  unroll::accumulate(session, plan != nullptr ? *plan : plan_of<T>(session.machine(), result, region, P), result,
                     region, beta, [&](auto& submitter, const unroll::Step& s, const unroll::Target<T>& target) {
                       const Index m = result.tile_m(s.i), n = result.tile_n(s.j), k = P.tile_n(s.k);
                       const unroll::Access x{P.handle(s.i, s.k), STARPU_R}, y{Q.handle(s.k, s.j), STARPU_R},
                           c{target.handle, target.mode};
                       if (target.on_diagonal) {
                         const int first_row = region.first_row(s.j, result.nb());
                         const double flops = trapezoid_flops<T>(*uplo, m, n, k, first_row);
                         const codelets::GemmtArgs<T> args{
                             {flops, type_letter<T>}, *uplo, first_row, first.op(), second.op(), alpha, target.beta};
                         submitter.submit(codelets::gemmt<T>(), {x, y, c}, args, target.owner, target.wanted_next);
                       } else {
                         const codelets::GemmArgs<T> args{
                             {product_flops<T>(m, n, k), type_letter<T>}, first.op(), second.op(), alpha, target.beta};
                         submitter.submit(codelets::gemm<T>(), {x, y, c}, args, target.owner, target.wanted_next);
                       }
                     });
}

/// The same on pointers that have been checked; with `uplo`, m = n. What is stored by rows is, by columns, the
/// transpose: Cᵀ ← α op(B)ᵀ op(A)ᵀ + β Cᵀ, the other triangle of it.
template <Scalar T>
void product_on_pointers(const char* routine, bool rows, std::optional<Uplo> uplo, Op op_a, Op op_b, Index m, Index n,
                         Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc) {
  if (m == 0 || n == 0 || ((alpha == T{} || k == 0) && beta == T(1))) return;
  if (rows) {
    std::swap(op_a, op_b), std::swap(m, n), std::swap(A, B), std::swap(lda, ldb);
    if (uplo) uplo = flipped(*uplo);
  }
  const auto session = session_to_wait(routine);
  const auto& machine = session->machine();
  const auto plan = uplo ? plan_triangle<T>(machine, *uplo, op_a, op_b, n, k, TriangleOf::Product)
                         : plan_product<T>(machine, op_a, op_b, m, n, k);
  const auto c = private_output(session, plan, C, m, n, ldc, uplo);
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    unroll::submit_scale<T>(*session, beta, c, computed_tiles(routine, 0, uplo, c));
    return c.wait();
  }
  const auto a = stored_operand(session, op_a, A, m, k, lda, {plan.tile.m, plan.tile.k}),
             b = stored_operand(session, op_b, B, k, n, ldb, {plan.tile.k, plan.tile.n});
  if (rows) name_operand(a, 'B'), name_operand(b, 'A');  // as the caller does
  product<T>(routine, uplo, op_a, op_b, alpha, a, b, beta, c, &plan);
  c.wait();
}

}  // namespace tessera::detail
