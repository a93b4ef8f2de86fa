// SPDX-License-Identifier: BSD-3-Clause
// trmm and trsm: a triangular matrix, or its inverse, applied in place to another matrix.
#include <memory>

#include "algorithms/run.hpp"
#include "algorithms/submit_sum.hpp"
#include "algorithms/triangular.hpp"
#include "algorithms/triangular_panels.hpp"
#include "compute.hpp"
#include "conformable.hpp"
#include "held_back.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "sinks/step_inputs.hpp"

namespace tessera::routines {

namespace {

/// A solve that holds back what other processes receive.
struct HeldBack {
  Index processes = 0;  ///< number of processes that own the rows in turn; 0: nothing is held back
  double fits = 0;      ///< for how much of all copies a process has memory
};

/// Submits the tasks of trmm or trsm.
/// @param B  overwritten by `sweep`
void unroll_triangular(const detail::Session& session, const algorithms::Plan& plan, bool inverse,
                       const algorithms::Sweep& sweep, const common::Number& alpha, const tile::Stored& B,
                       const HeldBack& held_back = {}) {
  sinks::Submitter submitter(session, B, plan.gpus);
  if (plan.load_first)
    algorithms::load(session, B.type(), [&](auto& to) {
      if (inverse) algorithms::trsm(to, sweep, alpha);
      else algorithms::trmm(to, sweep, alpha);
    });
  algorithms::submit(submitter, [&](auto& to) {
    if (const auto processes = held_back.processes; processes > 0) {
      const auto& share = B.grid().share();
      const Index others = share.p * share.q / processes;  // a step sends A from as many columns as it has rows
      sinks::StepInputs inputs(submitter, algorithms::steps_held_back(sweep, processes),
                               tile::divide_up(others, processes), held_back.fits, algorithms::uses_of_step_held_back);
      algorithms::trsm_held_back(to, inputs, sweep, processes, alpha);
    } else if (inverse) algorithms::trsm(to, sweep, alpha);
    else algorithms::trmm(to, sweep, alpha);
  });
}

/// Whether a solve holds back what other processes receive.
template <Scalar T>
HeldBack held_back(bool inverse, Side side, const Matrix<T>& A, const Matrix<T>& B) {
  const auto& share = detail::MatrixAccess::grid(B).share();
  if (!inverse || !share.is_distributed()) return {};
  const int processes = side == Side::Left ? share.p : share.q, others = side == Side::Left ? share.q : share.p;
  const auto bytes = [](const Matrix<T>& X) {
    return sizeof(T) * static_cast<double>(X.m()) * static_cast<double>(X.n());
  };
  const double copies = bytes(A) / 2 / processes * (1 - 1. / others) + bytes(B) / others * (1 - 1. / processes);
  if (!holds_back(share, copies, A, B)) return {};
  return {processes, share_that_fits(share, copies, A, B)};
}

}  // namespace

template <Scalar T>
void submit_triangular(const TileCall<T>& call) {
  const auto at_a = matrix_argument(call.routine, blas::Member::A),
             at_b = matrix_argument(call.routine, blas::Member::C);
  const auto &A = *call.A, &B = *call.C;
  const bool left = call.side == Side::Left;
  require_square(at_a, A);
  require_equal(at_b, left ? "rows" : "columns", left ? B.m() : B.n(), "A", A.m());
  require_writable(at_b, B);
  if (B.m() == 0 || B.n() == 0) return;
  const auto& session = detail::MatrixAccess::session(B);
  // On a transposed view of B, Bᵀ ← α op(A) Bᵀ, the stored B receives B ← α B op(A)ᵀ. For Bᴴ, α is conjugated, too.
  const bool transposed = is_transposed(B), conjugate = is_conjugated(B);
  const T alpha = conjugated_if<T>(conjugate, call.alpha);
  const auto X = B.stored();
  name_operand(A, 'A'), name_operand(B, 'B');
  if (alpha == T{}) return algorithms::submit_scale(session, T{}, X);

  require_values(at_a, A, call.uplo);
  require_values(at_b, B);
  require_same_tiles(at_a, "rows", row_cut(A), "its columns", column_cut(A));
  require_same_tiles(at_b, left ? "rows" : "columns", left ? row_cut(B) : column_cut(B), "A", row_cut(A));
  require_disjoint(at_b, B, "A", A);
  const Factor<T> given(A, call.op_a), factor = transposed ? given.transposed(conjugate) : given;
  require_operation(at_a, factor);
  const Side side = opposite_if(transposed, call.side);
  const auto plan =
      plan::plan_columns(session.machine(), {X.mb(), X.nb(), A.mb()}, side == Side::Left ? X.nt() : X.mt());
  const algorithms::Sweep sweep(session, plan, side, opposite_if(is_transposed(A), call.uplo), factor.op(), call.diag,
                                factor.tiles, X);
  const bool inverse = call.routine == blas::Routine::trsm;
  unroll_triangular(session, plan, inverse, sweep, alpha, X, held_back(inverse, side, A, X));
}

template <Scalar T>
void compute_triangular(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan,
                        const blas::Call& call) {
  const T alpha = Factors<T>(call).alpha;
  const auto b = private_output(session, plan, static_cast<T*>(call.C), call.m, call.n, call.ldc);
  name_operand(b, 'B');
  if (alpha == T{}) {  // A is not read, and may be null
    algorithms::submit_scale(*session, T{}, b);
    return b.wait();
  }
  const bool panels = plan.panels.exist(), inverse = call.routine == blas::Routine::trsm;
  const auto a = stored_triangle(session, call.uplo, static_cast<const T*>(call.A), call.order(), call.lda,
                                 {panels ? call.order() : plan.tile.k, plan.tile.k});
  name_operand(a, 'A');
  if (panels) {
    const Index gpus = plan.grid.size(), owners = session->machine().has_owners() ? gpus : 0;
    const tile::PanelView of_a(a, owners, call.uplo), of_b(b, owners);  // each of several GPUs loads its share of A
    const tile::TriangularFactor how{inverse,   call.side, call.uplo,
                                     call.op_a, call.diag, tile::is_blocked(*session, a.tile_n(0))};
    const auto algorithm = [&](auto& to) {
      algorithms::triangular_panels(to, how, alpha, of_a, of_b, plan.panels.ahead, gpus);
    };
    algorithms::load_and_submit(*session, b, algorithm, plan.gpus);
  } else {
    const algorithms::Sweep sweep(*session, plan, call.side, call.uplo, call.op_a, call.diag, a, b);
    unroll_triangular(*session, plan, inverse, sweep, alpha, b);
  }
  b.wait();
}

INSTANTIATE_FAMILY(triangular)

}  // namespace tessera::routines
