// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

#include "algorithms/plan.hpp"
#include "algorithms/qr.hpp"
#include "algorithms/reflector_tiles.hpp"
#include "lapack_on_pointers.hpp"
#include "lu_panels.hpp"
#include "operands.hpp"
#include "runtime/session.hpp"
#include "sinks/loader.hpp"
#include "sinks/submit.hpp"

/// Shared parts of the routines with Householder vectors.
namespace tessera::routines {

/// @throws ArgumentError, ShapeError if A is not in panels, or has fewer rows than columns
template <Scalar T>
void require_tall_panels(const MatrixArgument& which, const Matrix<T>& A) {
  require_full_panels(which, A);
  if (A.m() < A.n())
    throw ShapeError(
        which.routine, which.position, which.name,
        "has " + std::to_string(A.m()) + " rows, must have at least as many as columns, " + std::to_string(A.n()));
}

template <Scalar T>
std::shared_ptr<detail::ReflectorTiles> reflectors_of(const Matrix<T>& A) {
  return std::make_shared<detail::ReflectorTiles>(detail::MatrixAccess::grid(A).shared_session(), A.m(), A.n(), A.nb(),
                                                  type_letter<T>);
}

/// Submits the tasks of an algorithm that writes `output`.
/// @param algorithm  (algorithms::QrOps&)
template <Scalar T, typename Algorithm>
void submit_qr(const algorithms::Plan& plan, const Matrix<T>& A, detail::ReflectorTiles& reflectors,
               const Matrix<T>& output, Algorithm algorithm) {
  const auto& session = detail::MatrixAccess::session(A);
  sinks::Submitter submitter(session, output, plan.gpus);
  algorithms::QrOps<sinks::Submitter> to(session.machine(), submitter, plan.grid.size(), A, reflectors);
  algorithm(to);
}

struct ReportNothing {
  void operator()(auto& /*to*/) const {}
};

/// A ← its factors.
/// @param keep    whether the reflectors will be used again
/// @param report  (algorithms::QrOps&): requests reports from the tasks
template <Scalar T, typename Report = ReportNothing>
void submit_geqrf(const algorithms::Plan& plan, const Matrix<T>& A, detail::ReflectorTiles& reflectors, bool keep,
                  Report report = {}) {
  name_operand(A, 'A');
  const auto& session = detail::MatrixAccess::session(A);
  if (plan.load_first && detail::MatrixAccess::grid(A).is_private()) {
    sinks::Loader loader(session);
    algorithms::QrOps<sinks::Loader>(session.machine(), loader, plan.grid.size(), A, reflectors).request();
  }
  submit_qr(plan, A, reflectors, A, [&](auto& to) {
    report(to);
    if (plan.load_first || !session.machine().has_owners()) algorithms::geqrf(to, keep);
    else algorithms::geqrf_out_of_core(to, plan.together);
  });
}

/// Whether an op is the adjoint.
constexpr bool is_adjoint(Op op) { return op != Op::NoTrans; }

/// A in panels of full height, as an input of a routine on pointers.
template <Scalar T>
Matrix<T> factored_panels(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan, const T* A,
                          Index m, Index n, Index lda) {
  return detail::MatrixAccess::matrix(session, A, m, n, lda, {plan.tile.m, plan.tile.n});
}

/// C in columns of full height (Left), or in rows of full width (Right). A tile has at most the width of a panel.
template <Scalar T>
Matrix<T> reflected_panels(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan, Side side,
                           T* C, Index m, Index n, Index ldc) {
  auto cut = plan;
  const bool left = side == Side::Left;
  const Index width = width_of_right_sides(session->machine(), left ? n : m, plan.tile.n);
  cut.tile =
      left ? tile::TileExtents{std::max<Index>(1, m), width, 1} : tile::TileExtents{width, std::max<Index>(1, n), 1};
  return private_output(session, cut, C, m, n, ldc);
}

/// Computes the blocks of reflectors for reflectors that a program passes.
template <Scalar T>
std::shared_ptr<detail::ReflectorTiles> given_reflectors(const algorithms::Plan& plan, const Matrix<T>& A,
                                                         const T* tau) {
  auto tiles = reflectors_of(A);
  tiles->set(tau);
  // Only this call uses the registered matrix.
  submit_qr(plan, A, *tiles, A, [](auto& to) {
    for (Index k = 0; k < to.factors(); k++) to.make_block(k);
  });
  return tiles;
}

}  // namespace tessera::routines
