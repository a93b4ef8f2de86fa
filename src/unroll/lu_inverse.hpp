// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "loader.hpp"
#include "pivot_tiles.hpp"
#include "submit.hpp"
#include "tile/ops.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tasks that replace the factors P A = L U, in panels of full height, by the inverse of A. It is X P, where X L =
/// U⁻¹. So U is inverted, X is computed from the last panel to the first, and its columns are exchanged.
///
/// Both sums are left-looking: a panel gets all of its terms before the next one.
template <Scalar T>
class LuInverse {
 public:
  /// @param A  as stored, n×n, in panels
  LuInverse(const detail::Session& session, const detail::Plan& plan, const Matrix<T>& A,
            const detail::PivotTiles& pivots)
      : session_(session), submitter_(session, A), A_(A), pivots_(pivots), gpus_(plan.grid.size()),
        owned_(session.machine().has_owners()), blocked_(tile::is_blocked(session, A.tile_n(0))),
        has_gpus_(session.machine().has_cuda()) {}

  /// Requests all panels in the order of their first use, see algorithms::load.
  void load() const {
    Loader loader(session_);
    for (Index j = 0; j < A_.nt(); j++) loader.load(A_.handle(0, j), owner(j));
  }

  /// Finds the first zero on the diagonal of U.
  void find_zeros(codelets::InfoValue* value) {
    for (Index k = 0; k < A_.nt(); k++) {
      submitter_.step(k);
      // As an output, so that whatever depends on this panel comes later: at last the info.
      submitter_.submit(codelets::find_zero<T>(), {panel(k, STARPU_RW)},
                        codelets::FindZeroArgs{{columns(k), type_letter<T>}, first(k), first(k), value}, owner(k));
    }
  }

  /// U ← U⁻¹. A panel is multiplied by the inverse of what is on its left, and divided by its triangle.
  void invert() {
    for (Index j = 0; j < A_.nt(); j++) {
      for (Index k = 0; k < j; k++) {
        const double flops = flops_per_multiply_add<T> * (rows_above(k) + columns(k) / 2) * columns(k) * columns(j);
        submitter_.step(k);
        submitter_.submit(codelets::panel_multiply<T>(), {panel(k, STARPU_R), panel(j, STARPU_RW)},
                          codelets::PanelMultiplyArgs{{flops, type_letter<T>}, first(k)}, owner(j));
      }
      invert_panel(j);
    }
  }

  /// X ← U⁻¹ L⁻¹, from the last panel to the first. Panel j is done when X(later panels) L(later panels, j) has been
  /// subtracted, and it has been divided by L(j, j).
  void solve() {
    for (Index j = A_.nt() - 1; j >= 0; j--) {
      const TemporaryTile L = split(j);
      for (Index k = A_.nt() - 1; k > j; k--) {
        const double flops = flops_per_multiply_add<T> * rows() * columns(k) * columns(j);
        const codelets::GemmArgs<T> args{.work = {flops, type_letter<T>},
                                         .op_a = Op::NoTrans,
                                         .op_b = Op::NoTrans,
                                         .alpha = T(-1),
                                         .beta = T(1),
                                         .first_column = 0,
                                         .first_term = static_cast<int>(first(k) - first(j))};
        submitter_.step(k);
        submitter_.submit(codelets::gemm<T>(), {panel(k, STARPU_R), {L.handle(), STARPU_R}, panel(j, STARPU_RW)}, args,
                          owner(j));
      }
      divide(j, L);
    }
  }

  /// The task that writes `info`. Call this after `solve`: the first panel depends on all others.
  void submit_outcome(starpu_data_handle_t info, codelets::InfoValue* value) {
    submitter_.submit(codelets::outcome(), {panel(0, STARPU_R), {info, STARPU_W}},
                      codelets::OutcomeArgs{{0, type_letter<T>}, value}, owner(0));
  }

  /// Exchanges columns, in the opposite order of the exchanges of rows: those of panel j with each panel on its right,
  /// and then within itself. Exchanges with different panels have no column in common, so their order does not matter.
  /// An exchange within the panel, of column i with a later one, has no column in common with those of columns before
  /// i, so it may follow them.
  void exchange() {
    for (Index j = A_.nt() - 1; j >= 0; j--) {
      Index begin = j + 1;
      do {
        const Index end = std::min(begin + most_targets, A_.nt());
        exchange(j, begin, end);
        begin = end;
      } while (begin < A_.nt());
    }
  }

 private:
  static constexpr Index most_targets =
      STARPU_NMAXBUFS - 2;  ///< the other buffers are the pivots, and the panel itself

  void invert_panel(Index j) {
    TemporaryTile workspace, inverses;
    std::vector<Access> accesses{panel(j, STARPU_RW)};
    if (has_gpus_) {
      workspace = temporary(j, A_.tile_n(j), A_.tile_n(j));
      accesses.push_back({workspace.handle(), STARPU_W});
    }
    if (blocked_) {
      inverses = temporary(j, codelets::diagonal_block, 2 * A_.tile_n(j));
      accesses.push_back({inverses.handle(), STARPU_W});
    }
    const double flops = flops_per_multiply_add<T> / 2 * columns(j) * columns(j) * (rows_above(j) + columns(j) / 3);
    submitter_.step(j);
    submitter_.submit(codelets::panel_invert<T>(), std::span<const Access>(accesses),
                      codelets::PanelInvertArgs{{flops, type_letter<T>}, first(j), blocked_}, owner(j));
  }

  /// Moves L(·, j) out of panel j, which then holds U⁻¹(·, j) alone.
  TemporaryTile split(Index j) {
    TemporaryTile L = temporary(j, A_.m() - first(j), A_.tile_n(j));
    submitter_.step(j);
    submitter_.submit(codelets::split_panel<T>(), {panel(j, STARPU_RW), {L.handle(), STARPU_W}},
                      codelets::SplitPanelArgs{{(rows() - rows_above(j)) * columns(j), type_letter<T>}, first(j)},
                      owner(j));
    return L;
  }

  /// Panel j ← panel j · L(j, j)⁻¹. The triangle is at the top of the tile of L.
  void divide(Index j, const TemporaryTile& L) {
    const codelets::TriangularArgs<T> args{
        .work = {flops_per_multiply_add<T> / 2 * rows() * columns(j) * columns(j), type_letter<T>},
        .side = Side::Right,
        .uplo = Uplo::Lower,
        .op = Op::NoTrans,
        .diag = Diag::Unit,
        .alpha = T(1),
        .blocked = blocked_,
        .sum = nullptr,
        .spreads = true};
    const Access triangle{L.handle(), STARPU_R};
    submitter_.step(j);
    if (!blocked_) return submitter_.submit(codelets::trsm<T>(), {triangle, panel(j, STARPU_RW)}, args, owner(j));
    const TemporaryTile inverses = temporary(j, codelets::diagonal_block, 2 * A_.tile_n(j));
    const double flops = flops_per_multiply_add<T> * columns(j) * codelets::diagonal_block * codelets::diagonal_block;
    submitter_.submit(codelets::diagonal_blocks<T>(), {triangle, {inverses.handle(), STARPU_W}},
                      codelets::DiagonalBlocksArgs<T>{{flops, type_letter<T>}, Uplo::Lower, Diag::Unit}, owner(j));
    submitter_.submit(codelets::trsm<T>(), {triangle, panel(j, STARPU_RW), {inverses.handle(), STARPU_R}}, args,
                      owner(j));
  }

  /// Exchanges columns of panel j with panels [begin, end), and, if these are the last, within itself.
  void exchange(Index j, Index begin, Index end) {
    std::vector<Access> accesses{{pivots_.handle(j), STARPU_R}, panel(j, STARPU_RW)};
    for (Index k = begin; k < end; k++) accesses.push_back(panel(k, STARPU_RW));
    submitter_.step(j);
    submitter_.submit(codelets::swap_columns<T>(), std::span<const Access>(accesses),
                      codelets::SwapColumnsArgs{
                          {2 * rows() * columns(j), type_letter<T>}, first(begin) - first(j), A_.nb(), end == A_.nt()},
                      owner(j));
  }

  /// A tile that stands for a part of panel j.
  TemporaryTile temporary(Index j, Index m, Index n) const {
    TemporaryTile tile(m, n, sizeof(T));
    tile.stand_for(detail::MatrixAccess::grid(A_), 0, j);
    return tile;
  }

  Access panel(Index j, starpu_data_access_mode mode) const { return {A_.handle(0, j), mode}; }
  Index first(Index j) const { return j * A_.nb(); }
  double rows() const { return static_cast<double>(A_.m()); }
  double rows_above(Index j) const { return static_cast<double>(first(j)); }
  double columns(Index j) const { return static_cast<double>(A_.tile_n(j)); }
  int owner(Index j) const { return owned_ ? static_cast<int>(j % gpus_) : -1; }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>& A_;
  const detail::PivotTiles& pivots_;
  int gpus_;
  bool owned_, blocked_, has_gpus_;
};

}  // namespace tessera::unroll
