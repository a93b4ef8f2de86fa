// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "loader.hpp"
#include "panel_order.hpp"
#include "submit.hpp"
#include "tiling/plan.hpp"
#include "tiling/triangle_owners.hpp"

namespace tessera::unroll {

/// C ← α A B + β C in tall panels, for a symmetric or Hermitian A on the left, of which a triangle is stored.
///
/// A, B and C are cut into panels of all rows. A step is what one panel of A does to one of C: the symmetric part on
/// its diagonal, the rest of the panel, and the transpose of the rest. So a panel of C is complete after one task for
/// each panel of A, and only the stored triangle is copied. The panels come and go as in `TriangularPanels`.
///
/// @param A  in panels
/// @param B, C  in panels of the same width
template <Scalar T, bool hermitian>
void submit_symmetric_panels(const detail::Session& session, const detail::Plan& plan, Uplo uplo, T alpha,
                             const Matrix<T>& A, const Matrix<T>& B, T beta, const Matrix<T>& C) {
  const bool owners = session.machine().has_owners();
  const Index gpus = plan.grid.size();
  const auto order = panel_steps(C.nt(), A.nt(), plan.panels.ahead, gpus);
  const auto owner = [&](Index panel) { return owners ? static_cast<int>(panel % gpus) : -1; };
  const detail::TriangleOwners owners_of_a(uplo, A.n(), A.nb(), gpus);
  // The first step writes all rows, so its panel of A has all rows of the triangle.
  const auto panel_of_a = [&](Index step) { return uplo == Uplo::Lower ? step : A.nt() - 1 - step; };
  // A GPU begins its first panel before that of C is there, and adds it at the end.
  const auto is_deferred = [&](Index j) { return beta != T{} && j < gpus && A.nt() > 1; };
  if (owners) {
    Loader loader(session);
    for (const auto& [j, s] : order) {
      loader.load(A.handle(0, panel_of_a(s)), owners_of_a.of(panel_of_a(s)));
      loader.load(B.handle(0, j), owner(j));
      if (beta != T{} && (!is_deferred(j) || s + 1 == A.nt())) loader.load(C.handle(0, j), owner(j));
    }
  }
  Submitter submitter(session, C);
  std::vector<TemporaryTile> temporaries(static_cast<std::size_t>(C.nt()));
  for (const auto& [j, s] : order) {
    const Index k = panel_of_a(s), first = k * A.nb();
    const double own = static_cast<double>(A.tile_n(k)), width = static_cast<double>(C.tile_n(j)),
                 others = static_cast<double>(uplo == Uplo::Lower ? A.m() - first : first + A.tile_n(k)) - own;
    auto& temporary = temporaries[static_cast<std::size_t>(j)];
    if (s == 0 && is_deferred(j)) {
      temporary = TemporaryTile(C.m(), C.tile_n(j), sizeof(T));
      temporary.stand_for(detail::MatrixAccess::grid(C), 0, j);
    }
    // −0 becomes +0: cuBLAS treats −0 as a nonzero factor and reads C.
    const T factor = s > 0 ? T(1) : is_deferred(j) || beta == T{} ? T{} : beta;
    const codelets::SymmPanelArgs<T> args{
        {flops_per_multiply_add<T> * own * width * (own + 2 * others), type_letter<T>},
        uplo,
        static_cast<int>(first),
        alpha,
        factor};
    submitter.step(k);
    const Access a{A.handle(0, k), STARPU_R}, b{B.handle(0, j), STARPU_R},
        c{is_deferred(j) ? temporary.handle() : C.handle(0, j), factor == T{} ? STARPU_W : STARPU_RW};
    if constexpr (hermitian) submitter.submit(codelets::hemm_panel<T>(), {a, b, c}, args, owner(j));
    else submitter.submit(codelets::symm_panel<T>(), {a, b, c}, args, owner(j));
    if (!is_deferred(j) || s + 1 < A.nt()) continue;
    const double elements = static_cast<double>(C.m()) * width;
    const codelets::AddArgs<T> addition{{elements, type_letter<T>}, codelets::Part::All, 0, false, beta};
    submitter.submit(codelets::add<T>(), {{temporary.handle(), STARPU_R}, {C.handle(0, j), STARPU_RW}}, addition,
                     owner(j));
    temporary.release();
  }
}

}  // namespace tessera::unroll
