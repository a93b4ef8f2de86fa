// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "codelets/sum_slots.hpp"
#include "loader.hpp"
#include "panel_order.hpp"
#include "submit.hpp"
#include "tile/ops.hpp"
#include "tiling/plan.hpp"
#include "tiling/triangle_owners.hpp"

namespace tessera::unroll {

/// B ← α A⁻¹ B (trsm) or α A B (trmm) in tall panels, for a triangular A on the left that is not transposed.
///
/// A and B are cut into panels of all rows. A step is what one panel of A does to one of B: first to the rows of its
/// diagonal, then to all rows that depend on these. So a panel of B is complete after one task for each panel of A, and
/// panels of B are independent of each other.
///
/// While A arrives, the first panels of B take part: so the GPU computes, and a panel of A is used as soon as it is
/// there. Then one panel of B after another arrives, and is computed and written back while the next arrives.
template <Scalar T>
class TriangularPanels {
 public:
  /// @param inverse  true: trsm; false: trmm
  /// @param A  in panels; its tasks are those of this call
  /// @param B  in panels
  TriangularPanels(const detail::Session& session, const detail::Plan& plan, Uplo uplo, Diag diag, bool inverse,
                   T alpha, const Matrix<T>& A, const Matrix<T>& B)
      : session_(session), submitter_(session, B), A_(A), B_(B), uplo_(uplo), diag_(diag), inverse_(inverse),
        blocked_(tile::is_blocked(session, A.tile_n(0))), alpha_(alpha), ahead_(plan.panels.ahead),
        gpus_(plan.grid.size()), owners_of_a_(uplo, A.n(), A.nb(), gpus_) {}

  void submit() {
    const auto order = panel_steps(B_.nt(), A_.nt(), ahead_, gpus_);
    if (session_.machine().has_owners()) load(order);
    std::vector<TemporaryTile> inverses(static_cast<std::size_t>(A_.nt()));
    std::vector<Real<T>*> sums(static_cast<std::size_t>(B_.nt()));
    for (const auto& step : order) {
      auto& blocks = inverses[static_cast<std::size_t>(step.s)];
      if (blocked_ && inverse_ && blocks.handle() == nullptr)
        blocks =
            tile::Ops<T, Submitter>(session_, submitter_)
                .diagonal_blocks(tile::tile_of(A_, 0, at(step.s), owner_of_a(step.s)), first_row(step.s), uplo_, diag_);
      submit(step, blocks, sums[static_cast<std::size_t>(step.j)]);
    }
  }

 private:
  /// Requests all panels in the order of their first use. Of several GPUs, each gets its share of A from the host.
  void load(const std::vector<PanelStep>& order) const {
    Loader loader(session_);
    for (const auto& [j, s] : order) {
      loader.load(A_.handle(0, at(s)), owner_of_a(s));
      loader.load(B_.handle(0, j), owner(j));
    }
  }

  /// @param sum  of the rows of this step of panel j, then of those of its next step
  void submit(const PanelStep& step, const TemporaryTile& blocks, Real<T>*& sum) {
    const auto& [j, s] = step;
    const Access a{A_.handle(0, at(s)), STARPU_R}, b{B_.handle(0, j), STARPU_RW};
    const bool last = s + 1 == A_.nt();
    submitter_.step(at(s));
    if (s == 0) sum = submit_inspection(j, b);
    Real<T>* const next_sum = blocked_ && !last ? codelets::sum_slots::take<T>() : nullptr;
    const double order = columns_of_a(s), width = static_cast<double>(B_.tile_n(j)),
                 others = static_cast<double>(uplo_ == Uplo::Lower ? A_.m() - first_row(s) : first_row(s)) -
                          (uplo_ == Uplo::Lower ? order : 0);
    const codelets::TriangularPanelArgs<T> args{
        {{flops_per_multiply_add<T> * (order / 2 + others) * order * width, type_letter<T>},
         Side::Left,
         uplo_,
         Op::NoTrans,
         diag_,
         inverse_ && s > 0 ? T(1) : alpha_,
         blocked_,
         sum},
        static_cast<int>(first_row(s)),
        static_cast<int>(last ? 0 : first_row(s + 1)),
        static_cast<int>(last ? 0 : columns_of_a(s + 1)),
        next_sum};
    auto& codelet = inverse_ ? codelets::trsm_panel<T>() : codelets::trmm_panel<T>();
    if (blocked_ && inverse_) submitter_.submit(codelet, {a, b, {blocks.handle(), STARPU_R}}, args, owner(j));
    else submitter_.submit(codelet, {a, b}, args, owner(j));
    sum = next_sum;
  }

  /// Submits the task that sums panel j before its first step, see tile::Ops::inspect. The other steps do this
  /// for the next one.
  Real<T>* submit_inspection(Index j, const Access& panel) {
    const double elements = static_cast<double>(B_.m()) * static_cast<double>(B_.tile_n(j));
    if (!blocked_ || elements > std::numeric_limits<int>::max()) return nullptr;
    Real<T>* const sum = codelets::sum_slots::take<T>();
    if (sum == nullptr) return nullptr;
    submitter_.submit(codelets::inspect<T>(), {panel}, codelets::InspectArgs<T>{{elements, type_letter<T>}, sum},
                      owner(j));
    return sum;
  }

  /// The panel of A of step s. trsm begins with rows that depend on no other, trmm with those that no other needs.
  Index at(Index s) const { return inverse_ == (uplo_ == Uplo::Lower) ? s : A_.nt() - 1 - s; }
  Index first_row(Index s) const { return at(s) * A_.nb(); }
  double columns_of_a(Index s) const { return static_cast<double>(A_.tile_n(at(s))); }
  /// The GPU of a panel of B, and the one that loads the panel of A of step s.
  int owner(Index panel) const { return session_.machine().has_owners() ? static_cast<int>(panel % gpus_) : -1; }
  int owner_of_a(Index s) const { return session_.machine().has_owners() ? owners_of_a_.of(at(s)) : -1; }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>&A_, &B_;
  Uplo uplo_;
  Diag diag_;
  bool inverse_, blocked_;
  T alpha_;
  Index ahead_, gpus_;
  detail::TriangleOwners owners_of_a_;
};

}  // namespace tessera::unroll
