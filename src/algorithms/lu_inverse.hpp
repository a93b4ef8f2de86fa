// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "common/of_type.hpp"
#include "pivot_tiles.hpp"
#include "runtime/session.hpp"
#include "tile/ops.hpp"
#include "tile/panel_flops.hpp"

namespace tessera::algorithms {

/// Replaces the factors P A = L U, in panels of full height, by the inverse A⁻¹ = X P, where X L = U⁻¹. First U is
/// inverted, then X is computed from the last panel to the first, and finally the columns of X are exchanged.
///
/// Both sums are left-looking: each panel receives all its terms before the next panel.
/// @tparam Sink  see tile::Ops
template <typename Sink>
class LuInverse {
 public:
  /// @param A     as stored, n×n, in panels
  /// @param gpus  number of GPUs that own the panels round-robin, if the session assigns owners
  LuInverse(const detail::Session& session, Sink& sink, int gpus, const tile::Stored& A)
      : sink_(sink), to_(session.machine(), sink, A.type()), A_(A), gpus_(session.machine().has_owners() ? gpus : 0),
        blocked_(tile::is_blocked(session, A.tile_n(0))), has_gpus_(session.machine().has_cuda()) {}

  /// Finds the first zero on the diagonal of U.
  void find_zeros(codelets::InfoValue* value) {
    for (Index k = 0; k < A_.nt(); k++) to_.find_zero(panel(k), first(k), first(k), value);
  }

  /// U ← U⁻¹. Each panel is multiplied by the inverse of the part on its left, then by the inverse of its own triangle.
  void invert() {
    for (Index j = 0; j < A_.nt(); j++) {
      for (Index k = 0; k < j; k++) {
        const double flops = flops_.multiply(rows_above(k), columns(k), columns(j));
        sink_.step(k);
        sink_.submit(codelets::panel_multiply(A_.type()), {access(k, STARPU_R), access(j, STARPU_RW)},
                     codelets::PanelArgs{{flops, A_.type()}, first(k)}, panel(j).owner);
      }
      invert_panel(j);
    }
  }

  /// X ← U⁻¹ L⁻¹, from the last panel to the first. Panel j is reduced by the products of the later panels of X with
  /// their parts of L(·, j), and then divided by L(j, j).
  void solve() {
    for (Index j = A_.nt() - 1; j >= 0; j--) {
      auto L = panel(j);
      const auto memory = sink_.temporary(L, A_.m() - first(j), A_.tile_n(j), common::size_of(A_.type()));
      L.handle = memory.handle();
      split(j, L.handle);
      for (Index k = A_.nt() - 1; k > j; k--) {
        L.first_row = static_cast<int>(first(k) - first(j));
        to_.gemm(-1, panel(k), L, 1, panel(j));
      }
      L.rows = L.columns;  // the triangle is at the top
      to_.trsm(Side::Right, Op::NoTrans, to_.divisor(L, Uplo::Lower, Diag::Unit), 1, panel(j));
    }
  }

  /// Submits the task that writes `info`. Call this after `solve`, because the first panel depends on all others.
  void outcome(starpu_data_handle_t info, codelets::InfoValue* value) { to_.outcome(panel(0), info, value); }

  /// Exchanges columns, in the reverse order of the row exchanges: columns of panel j with those of each panel on its
  /// right, and then within panel j. Exchanges with different panels have no column in common, so their order does not
  /// matter. An exchange within the panel swaps column i with a later column. It may follow the exchanges of earlier
  /// columns with other panels, because these do not touch the two columns.
  void exchange(const detail::PivotTiles& pivots) {
    for (Index j = A_.nt() - 1; j >= 0; j--) {
      Index begin = j + 1;
      do {
        const Index end = std::min(begin + most_targets, A_.nt());
        exchange(pivots, j, begin, end);
        begin = end;
      } while (begin < A_.nt());
    }
  }

 private:
  static constexpr Index most_targets = STARPU_NMAXBUFS - 2;  ///< the other buffers are the pivots and the panel itself

  void invert_panel(Index j) {
    typename Sink::Temporary workspace, inverses;
    std::vector<tile::Access> accesses{access(j, STARPU_RW)};
    if (has_gpus_) {
      workspace = sink_.temporary(panel(j), A_.tile_n(j), A_.tile_n(j), common::size_of(A_.type()));
      accesses.push_back({workspace.handle(), STARPU_W});
    }
    if (blocked_) {
      inverses = sink_.temporary(panel(j), device::diagonal_block, 2 * A_.tile_n(j), common::size_of(A_.type()));
      accesses.push_back({inverses.handle(), STARPU_W});
    }
    const double flops = flops_.invert(rows_above(j), columns(j));
    sink_.step(j);
    sink_.submit(codelets::panel_invert(A_.type()), std::span<const tile::Access>(accesses),
                 codelets::PanelInvertArgs{{flops, A_.type()}, first(j), blocked_}, panel(j).owner);
  }

  /// Moves L(·, j) out of panel j, which then holds only U⁻¹(·, j).
  void split(Index j, starpu_data_handle_t L) {
    sink_.step(j);
    sink_.submit(codelets::split_panel(A_.type()), {access(j, STARPU_RW), {L, STARPU_W}},
                 codelets::PanelArgs{{(rows() - rows_above(j)) * columns(j), A_.type()}, first(j)}, panel(j).owner);
  }

  /// Exchanges columns of panel j with those of panels [begin, end), and within panel j if these are the last panels.
  void exchange(const detail::PivotTiles& pivots, Index j, Index begin, Index end) {
    std::vector<tile::Access> accesses{{pivots.handle(j), STARPU_R}, access(j, STARPU_RW)};
    for (Index k = begin; k < end; k++) accesses.push_back(access(k, STARPU_RW));
    sink_.step(j);
    sink_.submit(codelets::swap_columns(A_.type()), std::span<const tile::Access>(accesses),
                 codelets::SwapColumnsArgs{
                     {2 * rows() * columns(j), A_.type()}, first(begin) - first(j), A_.nb(), end == A_.nt()},
                 panel(j).owner);
  }

  tile::Tile panel(Index j) const { return tile::tile_of(A_, 0, j, gpus_ > 0 ? static_cast<int>(j % gpus_) : -1); }
  tile::Access access(Index j, starpu_data_access_mode mode) const { return {A_.handle(0, j), mode}; }
  Index first(Index j) const { return j * A_.nb(); }
  double rows() const { return static_cast<double>(A_.m()); }
  double rows_above(Index j) const { return static_cast<double>(first(j)); }
  double columns(Index j) const { return static_cast<double>(A_.tile_n(j)); }

  Sink& sink_;
  tile::Ops<Sink> to_;
  tile::Stored A_;
  tile::PanelFlops flops_{A_.type()};
  int gpus_;
  bool blocked_, has_gpus_;
};

}  // namespace tessera::algorithms
