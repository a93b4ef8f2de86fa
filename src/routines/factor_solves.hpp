// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <tessera/types.hpp>

#include "algorithms/run.hpp"
#include "algorithms/triangular.hpp"
#include "algorithms/triangular_panels.hpp"
#include "compute.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "runtime/session.hpp"

/// Solves with the two factors of a square matrix, as two sweeps over square tiles, or over panels.
namespace tessera::routines {

/// A solve with one of the factors, which is a triangle of the factored matrix.
struct FactorSolve {
  Uplo factor;
  Op op;
  Diag diag;
};
using FactorSolves = std::array<FactorSolve, 2>;

/// op(L U)⁻¹ from the left, where L has a unit diagonal.
constexpr FactorSolves solves_with_lu(Op op) {
  const FactorSolve lower{Uplo::Lower, op, Diag::Unit}, upper{Uplo::Upper, op, Diag::NonUnit};
  return op == Op::NoTrans ? FactorSolves{lower, upper} : FactorSolves{upper, lower};
}
/// (L Lᴴ)⁻¹, or (Uᴴ U)⁻¹, from the left.
constexpr FactorSolves solves_with_cholesky(Uplo uplo) {
  const FactorSolve as_stored{uplo, Op::NoTrans, Diag::NonUnit}, adjoint{uplo, Op::ConjTrans, Diag::NonUnit};
  return uplo == Uplo::Lower ? FactorSolves{as_stored, adjoint} : FactorSolves{adjoint, as_stored};
}

/// Submits both solves on matrices that have been checked.
template <Scalar T>
void submit_solves(const FactorSolves& solves, const Matrix<T>& A, const Matrix<T>& B) {
  for (const auto& [factor, op, diag] : solves)
    submit_triangular<T>(
        {.routine = blas::Routine::trsm, .uplo = factor, .op_a = op, .diag = diag, .alpha = T(1), .A = &A, .C = &B});
}

/// A problem on pointers. Row-major matrices are read as their column-major transposes. The factors of Aᵀ are the
/// transposed factors of A, in the other triangles, and op(A)⁻ᵀ is applied to Bᵀ from the right.
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
  /// The memory of A and B.
  std::array<detail::TileGrid::Memory, 2> operands() const {
    return {memory_of(A, stored_rows(), stored_columns(), lda), memory_of(B, rows_of_b(), columns_of_b(), ldb)};
  }
};

template <Scalar T>
void submit_solves(const detail::Session& session, const algorithms::Plan& plan, const FactoredProblem<T>& p,
                   const FactorSolves& solves, const Matrix<T>& A, const Matrix<T>& B) {
  for (const auto& [factor, op, diag] : solves) {
    const algorithms::Sweep sweep(session, plan, p.side(), opposite_if(p.by_rows(), factor), op, diag, A, B);
    sinks::Submitter submitter(session, B, plan.gpus);
    algorithms::submit(submitter, [&](auto& to) { algorithms::trsm(to, sweep, 1); });
  }
}

/// The same in panels. Each panel of A is loaded once, for both solves.
template <Scalar T>
void submit_solves_in_panels(const detail::Session& session, const algorithms::Plan& plan, const FactoredProblem<T>& p,
                             const FactorSolves& solves, std::optional<Uplo> uplo, const Matrix<T>& A,
                             const Matrix<T>& B) {
  const Index gpus = plan.grid.size(), owners = session.machine().has_owners() ? gpus : 0;
  const tile::PanelView of_a = uplo ? tile::PanelView(A, owners, *uplo) : tile::PanelView(A, owners), of_b(B, owners);
  const auto algorithm = [&](auto& to) {
    for (const auto& [factor, op, diag] : solves)
      algorithms::triangular_panels(
          to, {true, p.side(), opposite_if(p.by_rows(), factor), op, diag, tile::is_blocked(session, A.tile_n(0))}, 1,
          of_a, of_b, plan.panels.ahead, gpus);
  };
  algorithms::load_and_submit(session, B, algorithm, plan.gpus);
}

/// @throws ArgumentError if tiles of the size that the user asks for do not fit
template <Scalar T>
algorithms::Plan plan_solves_of(const detail::Session& session, const FactoredProblem<T>& p) {
  return plan::plan_solves(machine_for(session, p.operands()), type_letter<T>, p.side(), p.rows_of_b(),
                           p.columns_of_b());
}

/// Applies both solves to B, and waits. A holds the factors and is only read.
/// @param uplo  the triangle of A, as stored, that holds the factors; if empty, both triangles do
template <Scalar T>
void solve_with_factors(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan,
                        const FactoredProblem<T>& p, const FactorSolves& solves, std::optional<Uplo> uplo) {
  const auto x = private_output(session, plan, p.B, p.rows_of_b(), p.columns_of_b(), p.ldb);
  const bool panels = plan.panels.exist();
  const auto factors = detail::MatrixAccess::matrix(session, static_cast<const T*>(p.A), p.n, p.n, p.lda,
                                                    {panels ? p.n : plan.tile.k, plan.tile.k});
  if (uplo) detail::MatrixAccess::grid(factors).use_only(*uplo);
  name_operand(factors, 'A'), name_operand(x, 'B');
  if (panels) submit_solves_in_panels(*session, plan, p, solves, uplo, factors, x);
  else submit_solves(*session, plan, p, solves, factors, x);
  x.wait();
}
template <Scalar T>
void solve_with_factors(const std::shared_ptr<detail::Session>& session, const FactoredProblem<T>& p,
                        const FactorSolves& solves, std::optional<Uplo> uplo = {}) {
  solve_with_factors(session, plan_solves_of(*session, p), p, solves, uplo);
}

}  // namespace tessera::routines
