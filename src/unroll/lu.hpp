// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "diagonal_blocks.hpp"
#include "loader.hpp"
#include "pivot_tiles.hpp"
#include "submit.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tasks of an LU factorization with partial pivoting on panels of full height, and of solves with it.
///
/// The factorization is left-looking: a panel arrives, gets the updates of all panels before it, and is factorized. The
/// exchanges of rows by later panels come last, since until then updates need L as it was when its panel was
/// factorized.
template <Scalar T>
class Lu {
 public:
  /// @param A  as stored, in panels; its tasks are those of this call
  Lu(const detail::Session& session, const detail::Plan& plan, const Matrix<T>& A, const detail::PivotTiles& pivots,
     const Matrix<T>& output)
      : session_(session), submitter_(session, output), A_(A), pivots_(pivots), gpus_(plan.grid.size()),
        owned_(session.machine().has_owners()), blocked_(is_blocked(session, A.tile_n(0))) {}

  /// Requests all panels in the order of their first use, see Cholesky::load.
  void load() const {
    Loader loader(session_);
    for (Index j = 0; j < A_.nt(); j++) loader.load(A_.handle(0, j), owner(j));
  }

  /// @param together  panels that get the updates of an earlier panel one after another. Out of core, that panel is
  ///                  fetched once for all of them
  void factorize(Index together, codelets::InfoValue* value) {
    std::vector<TemporaryTile> inverses(static_cast<std::size_t>(A_.nt()));
    const auto of = [&](Index k) -> TemporaryTile& { return inverses[static_cast<std::size_t>(k)]; };
    for (Index begin = 0; begin < A_.nt(); begin += together) {
      const Index end = std::min(begin + together, A_.nt());
      for (Index k = 0; k < std::min(begin, pivots_.panels()); k++)
        for (Index j = begin; j < end; j++) update(k, j, of(k));
      for (Index j = begin; j < end; j++) {
        for (Index k = begin; k < std::min(j, pivots_.panels()); k++) update(k, j, of(k));
        if (j < pivots_.panels()) of(j) = factorize_panel(j, value);
      }
    }
    for (Index j = 0; j < pivots_.panels(); j++) exchange(A_.handle(0, j), j + 1, pivots_.panels(), owner(j));
  }

  /// The task that writes `info`. Call this last.
  void submit_outcome(starpu_data_handle_t info, codelets::InfoValue* value) {
    const Index last = pivots_.panels() - 1;
    submitter_.submit(codelets::outcome(), {{A_.handle(0, last), STARPU_R}, {info, STARPU_W}},
                      codelets::OutcomeArgs{{0, type_letter<T>}, value}, owner(last));
  }

  /// B ← op(A)⁻¹ B
  void solve(Op op, const Matrix<T>& B) {
    const Index count = pivots_.panels();
    for (Index j = 0; j < B.nt(); j++) {
      const auto b = B.handle(0, j);
      if (op == Op::NoTrans) {
        exchange(b, 0, count, owner(j));
        for (Index k = 0; k < count; k++) step(Uplo::Lower, op, k, b, B.tile_n(j), owner(j));
        for (Index k = count - 1; k >= 0; k--) step(Uplo::Upper, op, k, b, B.tile_n(j), owner(j));
      } else {
        for (Index k = 0; k < count; k++) step(Uplo::Upper, op, k, b, B.tile_n(j), owner(j));
        for (Index k = count - 1; k >= 0; k--) step(Uplo::Lower, op, k, b, B.tile_n(j), owner(j));
        exchange_back(b, owner(j));
      }
    }
  }

 private:
  /// Factorizes panel k.
  /// @return  the inverses of the blocks on the diagonal of L, if updates use them
  TemporaryTile factorize_panel(Index k, codelets::InfoValue* value) {
    const Access panel{A_.handle(0, k), STARPU_RW}, pivots{pivots_.handle(k), STARPU_W};
    const auto rows = static_cast<double>(A_.m() - first(k)), columns = static_cast<double>(A_.tile_n(k));
    const double flops = flops_per_multiply_add<T> / 2 * columns * columns * std::max(rows - columns / 3, 0.0);
    submitter_.step(k);
    const codelets::GetrfArgs args{{flops, type_letter<T>}, first(k), blocked_, value};
    if (!blocked_) {
      submitter_.submit(codelets::getrf<T>(), {panel, pivots}, args, owner(k));
      return {};
    }
    TemporaryTile inverses(codelets::diagonal_block, 2 * A_.tile_n(k), sizeof(T));
    inverses.stand_for(detail::MatrixAccess::grid(A_), 0, k);
    submitter_.submit(codelets::getrf<T>(), {panel, pivots, {inverses.handle(), STARPU_W}}, args, owner(k));
    return inverses;
  }

  void update(Index k, Index j, const TemporaryTile& inverses) {
    const auto rows = static_cast<double>(A_.m() - first(k)), columns = static_cast<double>(A_.tile_n(k));
    const double flops =
        flops_per_multiply_add<T> * columns * static_cast<double>(A_.tile_n(j)) * std::max(rows - columns / 2, 0.0);
    submitter_.step(k);
    const codelets::PanelUpdateArgs args{{flops, type_letter<T>}, first(k), blocked_};
    const Access panel{A_.handle(0, k), STARPU_R}, pivots{pivots_.handle(k), STARPU_R},
        target{A_.handle(0, j), STARPU_RW};
    if (blocked_)
      submitter_.submit(codelets::panel_update<T>(), {panel, pivots, target, {inverses.handle(), STARPU_R}}, args,
                        owner(j));
    else submitter_.submit(codelets::panel_update<T>(), {panel, pivots, target}, args, owner(j));
  }

  static_assert(codelets::most_pivots + 1 <= STARPU_NMAXBUFS, "this StarPU was configured for fewer buffers");

  /// Exchanges rows of a panel by the pivots of panels [begin, end).
  void exchange(starpu_data_handle_t target, Index begin, Index end, int owner) {
    for (Index k = begin; k < end; k += codelets::most_pivots)
      exchange(target, {k, 1}, std::min<Index>(codelets::most_pivots, end - k), owner);
  }
  /// Undoes the exchanges by all pivots.
  void exchange_back(starpu_data_handle_t target, int owner) {
    for (Index k = pivots_.panels() - 1; k >= 0; k -= codelets::most_pivots)
      exchange(target, {k, -1}, std::min<Index>(codelets::most_pivots, k + 1), owner);
  }
  struct Walk {
    Index begin, step;
  };
  void exchange(starpu_data_handle_t target, Walk walk, Index count, int owner) {
    std::vector<Access> accesses{{target, STARPU_RW}};
    for (Index i = 0; i < count; i++) accesses.push_back({pivots_.handle(walk.begin + i * walk.step), STARPU_R});
    submitter_.step(walk.begin);
    const double elements = 2.0 * static_cast<double>(count * pivots_.panel()) * static_cast<double>(pivots_.panel());
    const codelets::LaswpArgs args{
        {elements, type_letter<T>}, first(walk.begin), walk.step * pivots_.panel(), walk.step < 0};
    submitter_.submit(codelets::laswp<T>(), std::span<const Access>(accesses), args, owner);
  }

  void step(Uplo uplo, Op op, Index k, starpu_data_handle_t b, Index nrhs, int owner) {
    const double columns = static_cast<double>(A_.tile_n(k));
    const double rows = uplo == Uplo::Upper ? static_cast<double>(first(k)) + columns / 2
                                            : static_cast<double>(A_.m() - first(k)) - columns / 2;
    const double flops = flops_per_multiply_add<T> * rows * columns * static_cast<double>(nrhs);
    submitter_.step(k);
    submitter_.submit(codelets::panel_solve<T>(), {{A_.handle(0, k), STARPU_R}, {b, STARPU_RW}},
                      codelets::PanelSolveArgs{{flops, type_letter<T>}, first(k), uplo, op}, owner);
  }

  Index first(Index k) const { return k * pivots_.panel(); }
  int owner(Index j) const { return owned_ ? static_cast<int>(j % gpus_) : -1; }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>& A_;
  const detail::PivotTiles& pivots_;
  int gpus_;
  bool owned_, blocked_;
};

}  // namespace tessera::unroll
