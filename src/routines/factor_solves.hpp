// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/types.hpp>

#include "algorithms/run.hpp"
#include "algorithms/triangular.hpp"
#include "operands.hpp"
#include "runtime/session.hpp"
#include "tiling/plan.hpp"

/// Solves with the factors L, whose diagonal is ones, and U of an LU factorization, as two sweeps over square tiles.
namespace tessera::detail {

/// The factors that come first and second in op(L U)⁻¹, from the left.
struct FactorSolve {
  Uplo factor;
  Diag diag;
};
struct FactorSolves {
  FactorSolve steps[2];
};
constexpr FactorSolves solves_with(Op op) {
  constexpr FactorSolve lower{Uplo::Lower, Diag::Unit}, upper{Uplo::Upper, Diag::NonUnit};
  return op == Op::NoTrans ? FactorSolves{{lower, upper}} : FactorSolves{{upper, lower}};
}

/// A problem on pointers. Row-major matrices are read as column-major ones: A as its transpose, whose factors are the
/// transposed ones, and B as its transpose, to which op(A)⁻ᵀ is applied from the right.
template <Scalar T>
struct FactoredProblem {
  Layout layout;
  Index m, n;
  T* A;
  Index lda;
  Index nrhs = 0;
  T* B = nullptr;
  Index ldb = 1;

  bool by_rows() const { return layout == Layout::RowMajor; }
  Index stored_rows() const { return by_rows() ? n : m; }
  Index stored_columns() const { return by_rows() ? m : n; }
  Side side() const { return by_rows() ? Side::Right : Side::Left; }
  Index rows_of_b() const { return by_rows() ? nrhs : n; }
  Index columns_of_b() const { return by_rows() ? n : nrhs; }
};

template <Scalar T>
void submit_solves(const Session& session, const Plan& plan, const FactoredProblem<T>& p, Op op, const Matrix<T>& A,
                   const Matrix<T>& B) {
  for (const auto& [factor, diag] : solves_with(op).steps) {
    const algorithms::Sweep<T> sweep(session, plan, p.side(), opposite_if(p.by_rows(), factor), op, diag, A, B);
    sinks::Submitter submitter(session, B);
    algorithms::submit<T>(session, submitter, [&](auto& to) { algorithms::trsm(to, sweep, T(1)); });
  }
}

/// B ← op(L U)⁻¹ B, where A has the factors and is only read. Waits.
template <Scalar T>
void solve_with_factors(const std::shared_ptr<Session>& session, const FactoredProblem<T>& p, Op op) {
  const auto plan = plan_solves<T>(session->machine(), p.side(), p.rows_of_b(), p.columns_of_b());
  const auto x = private_output(session, plan, p.B, p.rows_of_b(), p.columns_of_b(), p.ldb);
  const auto factors =
      MatrixAccess::matrix(session, static_cast<const T*>(p.A), p.n, p.n, p.lda, {plan.tile.k, plan.tile.k});
  name_operand(factors, 'A'), name_operand(x, 'B');
  submit_solves(*session, plan, p, op, factors, x);
  x.wait();
}

}  // namespace tessera::detail
