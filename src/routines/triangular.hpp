// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/arguments.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "tiling/plan.hpp"
#include "unroll/scale.hpp"
#include "unroll/sweep.hpp"

/// The common part of trmm and trsm: everything but the order of their tasks.
namespace tessera::detail {

/// Checks the call, then lets `unroll_tasks` submit its tasks. With α = 0, B becomes zero and A is not read.
/// @param inverse       true: trsm; false: trmm
/// @param plan          by which the tiles were cut; null: they were given
/// @param unroll_tasks  (unroll::Sweep<T>&, T alpha)
template <Scalar T, typename Unroll>
void triangular(const char* routine, Side side, Uplo uplo, Op op, Diag diag, bool inverse, T alpha, const Matrix<T>& A,
                const Matrix<T>& B, const Plan* plan, Unroll unroll_tasks) {
  using namespace arguments;
  require_legal(routine, first_of({illegal_side(1, side), illegal_uplo(2, uplo), illegal_op(3, "op", op),
                                   illegal_diag(4, diag)}));
  const bool left = side == Side::Left;
  require_square(routine, 6, "A", A);
  require_equal(routine, 7, "B", left ? "rows" : "columns", left ? B.m() : B.n(), "A", A.m());
  require_writable(routine, 7, "B", B);
  if (B.m() == 0 || B.n() == 0) return;
  const auto& session = MatrixAccess::session(B);
  // On a transposed view of B, Bᵀ ← α op(A) Bᵀ, the stored B gets B ← α B op(A)ᵀ. With Bᴴ, α is conjugated as well.
  const bool turned = is_transposed(B), conjugate = is_conjugated(B);
  alpha = conjugated_if<T>(conjugate, alpha);
  const auto X = B.stored();
  name_operand(A, 'A'), name_operand(B, 'B');
  if (alpha == T{}) return unroll::submit_scale<T>(session, T{}, X);

  require_same_tiles(routine, 6, "A", "rows", row_cut(A), "its columns", column_cut(A));
  require_same_tiles(routine, 7, "B", left ? "rows" : "columns", left ? row_cut(B) : column_cut(B), "A", row_cut(A));
  require_disjoint(routine, 7, "B", B, "A", A);
  const Factor<T> given(A, op), factor = turned ? given.transposed(conjugate) : given;
  require_operation(routine, 6, "A", factor);
  const Side stored_side = flipped_if(turned, side);
  const auto given_plan = [&] {
    return plan_columns(session.machine(), {X.mb(), X.nb(), A.mb()}, stored_side == Side::Left ? X.nt() : X.mt());
  };
  unroll::Sweep<T> sweep(session, plan != nullptr ? *plan : given_plan(), stored_side,
                         flipped_if(is_transposed(A), uplo), factor.op(), diag, inverse, factor.tiles, X);
  unroll_tasks(sweep, alpha);
}

/// The call on pointers. Row-major memory, read as column-major, holds transposes: Bᵀ ← α Bᵀ op(A)ᵀ. A is then on the
/// other side, and its lower triangle is the upper one of Aᵀ. op stays, since op(A)ᵀ = op(Aᵀ).
/// @param routine_on_tiles  (side, uplo, A, B, plan): the call on matrices
template <Scalar T, typename Routine>
void triangular_on_pointers(const char* routine, std::optional<Layout> layout, Side side, Uplo uplo, Op op, Diag diag,
                            bool inverse, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                            Routine routine_on_tiles) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      routine, arguments::TriangularCall{{sizeof(T), rows}, side, uplo, op, diag, m, n, A, lda, B, ldb, alpha != T{}},
      layout);
  if (m == 0 || n == 0) return;
  if (rows) {
    std::swap(m, n);
    side = flipped(side), uplo = flipped(uplo);
  }
  const auto session = session_to_wait(routine);
  const auto plan = plan_triangular<T>(session->machine(), side, inverse, m, n);
  const auto b = private_output(session, plan, B, m, n, ldb);
  if (alpha == T{}) {  // A is not read, and may be null
    unroll::submit_scale<T>(*session, T{}, b);
    return b.wait();
  }
  const Index order = side == Side::Left ? m : n;
  const auto a = stored_triangle(session, uplo, A, order, lda, plan.tile.k);
  routine_on_tiles(side, uplo, a, b, plan);
  b.wait();
}

}  // namespace tessera::detail
