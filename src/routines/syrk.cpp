// SPDX-License-Identifier: BSD-3-Clause
// syrk, herk, syr2k and her2k: one triangle of the product of a matrix with its (conjugate) transpose, or of the sum of
// a product of two matrices and its (conjugate) transpose.
#include <memory>
#include <optional>
#include <tuple>

#include "algorithms/plan.hpp"
#include "algorithms/products.hpp"
#include "algorithms/submit_sum.hpp"
#include "compute.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::routines {

using blas::Member;

template <Scalar T>
void submit_update(const TileCall<T>& call) {
  const bool hermitian = is_hermitian<T>(call.routine);
  const bool two = call.B != nullptr;
  const auto at_a = matrix_argument(call.routine, Member::A), at_c = matrix_argument(call.routine, Member::C),
             at_b = two ? matrix_argument(call.routine, Member::B) : at_a;
  const auto &A = *call.A, &C = *call.C;
  Factor<T> first(A, call.op_a), second(two ? *call.B : A, call.op_a);
  const auto P = first.view(), Q = second.view();
  require_equal(at_b, "rows", Q.m(), "op(A)", P.m());
  require_equal(at_b, "columns", Q.n(), "op(A)", P.n());
  require_square(at_c, C);
  require_equal(at_c, "rows", C.m(), "op(A)", P.m());
  require_writable(at_c, C);
  if (C.m() == 0) return;
  // A transposed view of C names the opposite triangle of the stored C. If the view equals the conjugate of the stored
  // C, all operands are conjugated.
  const bool conjugate = conjugates(hermitian, C);
  const T alpha = conjugated_if<T>(conjugate, call.alpha), beta = conjugated_if<T>(conjugate, call.beta);
  const Uplo triangle = opposite_if(is_transposed(C), call.uplo);
  const auto result = C.stored();
  const auto region = computed_tiles(at_c, triangle, result);
  const auto& session = detail::MatrixAccess::session(C);
  name_operand(A, 'A'), name_operand(C, 'C');
  if (two) name_operand(*call.B, 'B');
  const bool adds_nothing = alpha == T{} || P.n() == 0;
  if (is_read(beta, adds_nothing)) require_values(at_c, C, call.uplo);
  if (adds_nothing) return algorithms::submit_scale(session, beta, result, region, hermitian);

  require_values(at_a, A);
  if (two) require_values(at_b, *call.B);
  require_same_tiles(at_b, "rows", row_cut(Q), "the rows of op(A)", row_cut(P));
  require_same_tiles(at_b, "columns", column_cut(Q), "the columns of op(A)", column_cut(P));
  require_same_tiles(at_c, "rows", row_cut(result), "the rows of op(A)", row_cut(P));
  require_disjoint(at_c, C, "A", A);
  if (two) require_disjoint(at_c, C, "B", *call.B);
  for (auto* factor : {&first, &second}) factor->conjugate = factor->conjugate != conjugate;
  if (first.conjugate != (first.transpose && hermitian)) refuse_conjugate(at_a);
  require_operation(at_b, second);
  if (second.op() != first.op())
    throw ArgumentError(at_b.routine, at_b.position, at_b.name,
                        "must be seen through the same transpose as A: B would have to be transposed");
  const auto plan = plan_of(session.machine(), result, region, P);
  const algorithms::RankUpdate add{alpha,        two, hermitian, {first.tiles, first.op()}, {second.tiles, first.op()},
                                   region.across};
  algorithms::submit_sum(session, plan, result, region, beta, hermitian, add);
}

template <Scalar T>
void compute_update(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan,
                    const blas::Call& call) {
  const bool hermitian = is_hermitian<T>(call.routine);
  const auto [uplo, op, n, k] = std::tuple(call.uplo, call.op_a, call.n, call.k);
  const auto [alpha, beta] = Factors<T>(call);
  const bool two = call.shape() == blas::Shape::rank_2k;
  const auto c = private_output(session, plan, static_cast<T*>(call.C), n, n, call.ldc, uplo);
  const auto region = computed_tiles<T>(matrix_argument(call.routine, Member::C), uplo, c);
  name_operand(c, 'C');
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    algorithms::submit_scale(*session, beta, c, region, hermitian);
    return c.wait();
  }
  const auto rows = plan.rows(n);
  const tile::Edges terms(k, plan.tile.k);
  const auto a = stored_operand(session, op, static_cast<const T*>(call.A), call.lda, rows, terms);
  std::optional<Matrix<T>> b;
  if (two) b = stored_operand(session, op, static_cast<const T*>(call.B), call.ldb, rows, terms);
  name_operand(a, 'A');
  if (b) name_operand(*b, 'B');
  const Factor<T> first(a, op);
  const algorithms::RankUpdate add{alpha, two, hermitian, {a, first.op()}, {b ? *b : a, first.op()}, region.across};
  algorithms::submit_sum(*session, plan, c, region, beta, hermitian, add);
  c.wait();
}

INSTANTIATE_FAMILY(update)

}  // namespace tessera::routines
