// SPDX-License-Identifier: BSD-3-Clause
// symm and hemm: products in which the missing tiles of A are (conjugate) transposes of stored tiles.
#include <memory>
#include <tuple>

#include "algorithms/plan.hpp"
#include "algorithms/products.hpp"
#include "algorithms/submit_sum.hpp"
#include "algorithms/symmetric_panels.hpp"
#include "compute.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::routines {

using blas::Member;

template <Scalar T>
void submit_symmetric(const TileCall<T>& call) {
  const bool hermitian = is_hermitian<T>(call.routine);
  const auto at_a = matrix_argument(call.routine, Member::A), at_b = matrix_argument(call.routine, Member::B),
             at_c = matrix_argument(call.routine, Member::C);
  const auto &A = *call.A, &B = *call.B, &C = *call.C;
  const bool left = call.side == Side::Left;
  require_square(at_a, A);
  require_equal(at_b, left ? "rows" : "columns", left ? B.m() : B.n(), "A", A.m());
  require_equal(at_c, "rows", C.m(), "B", B.m());
  require_equal(at_c, "columns", C.n(), "B", B.n());
  require_writable(at_c, C);
  if (C.m() == 0 || C.n() == 0) return;
  // On a transposed view of C, Cᵀ ← α A Bᵀ + β Cᵀ, the stored C receives C ← α B A + β C if Aᵀ = A. If the view of A
  // equals its conjugate (Aᵀ of a Hermitian A, Aᴴ of a symmetric A), the view of C must be conjugated, too.
  if (conjugates(hermitian, A) != conjugates(hermitian, C)) refuse_conjugate(at_a);
  const auto& session = detail::MatrixAccess::session(C);
  const T alpha = conjugated_if<T>(is_conjugated(C), call.alpha), beta = conjugated_if<T>(is_conjugated(C), call.beta);
  name_operand(A, 'A'), name_operand(B, 'B'), name_operand(C, 'C');
  if (is_read(beta, alpha == T{})) require_values(at_c, C);
  if (alpha == T{}) return algorithms::submit_scale(session, beta, C.stored());

  require_values(at_a, A, call.uplo);
  require_values(at_b, B);
  if (B.op() != C.op())
    throw ArgumentError(at_b.routine, at_b.position, at_b.name,
                        "must be seen through the same transpose as C: B would have to be transposed");
  require_same_tiles(at_a, "rows", row_cut(A), "its columns", column_cut(A));
  require_same_tiles(at_b, left ? "rows" : "columns", left ? row_cut(B) : column_cut(B), "A", row_cut(A));
  require_same_tiles(at_c, "rows", row_cut(C), "the rows of B", row_cut(B));
  require_same_tiles(at_c, "columns", column_cut(C), "the columns of B", column_cut(B));
  require_disjoint(at_c, C, "A", A);
  require_disjoint(at_c, C, "B", B);
  const auto plan = plan_of(session.machine(), C.stored(), tile::Part::All, A.stored());
  const algorithms::SymmetricProduct add{alpha,
                                         opposite_if(is_transposed(C), call.side),
                                         {A.stored(), opposite_if(is_transposed(A), call.uplo), hermitian},
                                         {B.stored(), Op::NoTrans}};
  algorithms::submit_sum(session, plan, C.stored(), tile::Part::All, beta, false, add);
}

template <Scalar T>
void compute_symmetric(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan,
                       const blas::Call& call) {
  const bool hermitian = is_hermitian<T>(call.routine);
  const auto [side, m, n] = std::tuple(call.side, call.m, call.n);
  const auto [alpha, beta] = Factors<T>(call);
  const bool panels = plan.panels.exist();
  const auto c = private_output(session, plan, static_cast<T*>(call.C), m, n, call.ldc);
  name_operand(c, 'C');
  if (alpha == T{}) {  // A and B are not read, and may be null
    algorithms::submit_scale(*session, beta, c);
    return c.wait();
  }
  const auto a = stored_triangle(session, call.uplo, static_cast<const T*>(call.A), call.order(), call.lda,
                                 {panels ? plan.tile.m : plan.tile.k, plan.tile.k});
  const auto b = private_input(session, static_cast<const T*>(call.B), call.ldb, plan.rows(m), plan.columns(n));
  name_operand(a, 'A'), name_operand(b, 'B');
  if (panels) {
    const Index gpus = plan.grid.size(), owners = session->machine().has_owners() ? gpus : 0;
    const tile::PanelView of_a(a, owners, call.uplo), of_b(b, owners), of_c(c, owners);
    algorithms::load_and_submit(
        *session, c,
        [&](auto& to) {
          algorithms::symmetric_panels(to, hermitian, call.uplo, alpha, of_a, of_b, beta, of_c, plan.panels.ahead,
                                       gpus);
        },
        plan.gpus);
  } else {
    const algorithms::SymmetricProduct add{alpha, side, {a, call.uplo, hermitian}, {b, Op::NoTrans}};
    algorithms::submit_sum(*session, plan, c, tile::Part::All, beta, false, add);
  }
  c.wait();
}

INSTANTIATE_FAMILY(symmetric)

}  // namespace tessera::routines
