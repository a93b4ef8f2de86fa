// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "common/of_type.hpp"
#include "machine/machine.hpp"
#include "pivot_tiles.hpp"
#include "row_exchanges.hpp"
#include "tile/ops.hpp"
#include "tile/panel_flops.hpp"

namespace tessera::algorithms {

/// The operations of an LU factorization with partial pivoting, and of the solves that use it. They work on panels. A
/// panel is a column of tiles, and a step changes only the last tiles of a panel. A tile is as wide as a panel and may
/// be several times as tall.
/// @tparam Sink  see tile::Ops
template <typename Sink>
class PanelOps {
 public:
  using Inverses = typename Sink::Temporary;  ///< inverses of the diagonal blocks of L; empty if they are not used

  /// The number of panels of other processes that a process holds at a time: one that updates others, its successor,
  /// and two that arrive. Over MPI, more may be early, but none after its own next panel.
  static constexpr Index most_copies = 4;

  /// @param A     as stored, in panels
  /// @param gpus  number of GPUs that own the panels of a process in turn, if the session assigns owners
  PanelOps(const machine::Machine& machine, Sink& sink, int gpus, const tile::Stored& A, PivotHandles pivots)
      : machine_(machine), sink_(sink), A_(A), pivots_(std::move(pivots)), gpus_(gpus), owned_(machine.has_owners()),
        processes_(!A.is_outline() && A.grid().share().is_distributed() ? A.grid().share().q : 1),
        blocked_(tile::is_blocked(machine, A.tile_n(0))) {}

  const machine::Machine& machine() const noexcept { return machine_; }
  Index panels() const noexcept { return A_.nt(); }
  bool are_copied() const noexcept { return processes_ > 1; }  ///< whether other processes receive the panels
  Index pivoted() const noexcept { return pivots_.panels(); }  ///< number of panels that have pivots
  /// Panels with this distance are on the same GPU.
  Index turn() const noexcept { return Index{processes_} * gpus_; }
  double element_size() const { return static_cast<double>(common::size_of(A_.type())); }
  bool are_owned() const noexcept { return owned_; }
  double columns(Index k) const { return static_cast<double>(A_.tile_n(k)); }
  /// The rows of panel k from its diagonal down.
  double rows_from(Index k) const { return static_cast<double>(A_.m() - first(k)); }
  double bytes(Index k) const { return static_cast<double>(A_.m()) * columns(k) * element_size(); }
  double update_flops(Index k, Index j) const { return update_args(k, j).work.flops; }

  /// Requests all panels from first to last. `getrf` expects them to arrive in this order.
  template <typename Loader>
  void request(Loader& loader) const {
    for (Index j = 0; j < panels(); j++)
      for (Index i = 0; i < A_.mt(); i++) loader.load(A_.handle(i, j), owner(j));
  }

  /// Factorizes panel k.
  Inverses factorize(Index k, codelets::InfoValue* value) {
    std::vector<tile::Access> accesses;
    auto inverses = add_factorized(accesses, k);
    sink_.step(k);
    sink_.submit(codelets::getrf(A_.type()), std::span<const tile::Access>(accesses), panel_args(k, value), owner(k));
    return inverses;
  }

  /// Factorizes panel k while panel `before` updates the panels `others` on the GPU of panel k.
  Inverses factorize_beside(Index k, Index before, const Inverses& of_before, const std::vector<Index>& others,
                            codelets::InfoValue* value) {
    std::vector<tile::Access> accesses;
    auto inverses = add_factorized(accesses, k);
    add_tiles(accesses, A_, before, row_of(before), A_.mt(), STARPU_R);
    accesses.push_back({pivots_.handle(before), STARPU_R});
    if (blocked_) accesses.push_back({of_before.handle(), STARPU_R});
    codelets::GetrfBesideUpdatesArgs args{
        {}, panel_args(k, value), update_args(before, others.front()), static_cast<int>(others.size())};
    args.work = args.panel.work;
    for (const auto j : others) {
      add_tiles(accesses, A_, j, row_of(before), A_.mt(), STARPU_RW);
      const auto work = update_args(before, j).work;
      args.work.flops += work.flops, args.work.beside += work.flops, args.work.moved += work.moved;
    }
    sink_.step(before);
    sink_.submit(codelets::getrf_beside_updates(A_.type()), std::span<const tile::Access>(accesses), args, owner(k));
    return inverses;
  }

  /// Updates panel j with panel k.
  void update(Index k, Index j, const Inverses& inverses) {
    std::vector<tile::Access> accesses;
    add_tiles(accesses, A_, k, row_of(k), A_.mt(), STARPU_R);
    accesses.push_back({pivots_.handle(k), STARPU_R});
    add_tiles(accesses, A_, j, row_of(k), A_.mt(), STARPU_RW);
    if (blocked_) accesses.push_back({inverses.handle(), STARPU_R});
    sink_.step(k);
    sink_.submit(codelets::panel_update(A_.type()), std::span<const tile::Access>(accesses), update_args(k, j),
                 owner(j));
  }

  /// Exchanges rows of panel j according to the pivots of panels [begin, end).
  void exchange(Index j, Index begin, Index end) { exchange(A_, j, begin, end); }
  void exchange(const tile::Stored& X, Index j, Index begin, Index end) {
    exchanges_.exchange(X, j, begin, end, owner(j));
  }
  void exchange_back(const tile::Stored& X, Index j) { exchanges_.exchange_back(X, j, owner(j)); }

  /// If panel k ends a row of tiles, the first panel in this row; otherwise −1.
  Index first_of_row(Index k) const {
    if (k + 1 < pivoted() && row_of(k + 1) == row_of(k)) return -1;
    return A_.mt() == 1 ? 0 : row_of(k) * A_.mb() / pivots_.panel();
  }

  /// Applies panel k to column j of B, as one step of a solve. The rows of B are cut into the same tiles as those of A.
  void solve(Uplo uplo, Op op, Index k, const tile::Stored& B, Index j) {
    const auto [begin, end] = rows_of_triangle(uplo, k);
    std::vector<tile::Access> accesses;
    add_tiles(accesses, A_, k, begin, end, STARPU_R);
    add_tiles(accesses, B, j, begin, end, STARPU_RW);
    const double rows =
        uplo == Uplo::Upper ? static_cast<double>(first(k)) + columns(k) / 2 : rows_from(k) - columns(k) / 2;
    const double flops = flops_.solve(rows, columns(k), static_cast<double>(B.tile_n(j)));
    sink_.step(k);
    sink_.submit(
        codelets::panel_solve(A_.type()), std::span<const tile::Access>(accesses),
        codelets::PanelSolveArgs{
            {flops, A_.type()}, static_cast<int>(first(k) - begin * A_.mb()), static_cast<int>(end - begin), uplo, op},
        owner(j));
  }

  /// Adds the tiles that `solve` reads of panel k to the inputs of a step.
  template <typename Inputs>
  void add_inputs(Inputs& inputs, Uplo uplo, Index k, const tile::Stored& B) const {
    bool is_read = false;
    for (Index j = 0; j < B.nt(); j++) is_read = is_read || inputs.is_mine(B.handle(0, j));
    const auto [begin, end] = rows_of_triangle(uplo, k);
    for (Index i = begin; i < end; i++) inputs.add(A_.handle(i, k), is_read);
  }

  /// Declares that no further task uses the factorized panel k, unless the process has it. Its rows may still be
  /// exchanged there.
  void forget(Index k) {
    if constexpr (requires { sink_.forget(A_.handle(0, k)); })  // a rehearsal has no other processes
      for (Index i = row_of(k); i < A_.mt(); i++) sink_.forget(A_.handle(i, k));
  }

  /// result ← value, once the last panel with pivots of this process is factorized.
  /// @return  false if this process has no such panel, and nothing to deliver
  bool outcome(starpu_data_handle_t result, codelets::OutcomeValue* value) {
    Index last = pivoted() - 1;
    while (last >= 0 && !sink_.runs(A_.handle(row_of(last), last))) last--;
    if (last < 0) return false;
    sink_.submit(codelets::outcome(), {{A_.handle(row_of(last), last), STARPU_R}, {result, STARPU_W}},
                 codelets::OutcomeArgs{{0, A_.type()}, value}, owner(last));
    return true;
  }

 private:
  /// Adds tiles [begin, end) of column j of X.
  void add_tiles(std::vector<tile::Access>& accesses, const tile::Stored& X, Index j, Index begin, Index end,
                 starpu_data_access_mode mode) const {
    for (Index i = begin; i < end; i++) accesses.push_back({X.handle(i, j), mode});
  }

  /// Adds panel k, its pivots and, if updates use them, the inverses of its diagonal blocks. Returns these inverses.
  Inverses add_factorized(std::vector<tile::Access>& accesses, Index k) const {
    add_tiles(accesses, A_, k, row_of(k), A_.mt(), STARPU_RW);
    accesses.push_back({pivots_.handle(k), STARPU_W});
    if (!blocked_) return {};
    auto inverses = sink_.temporary(tile::tile_of(A_, row_of(k), k, owner(k)), device::diagonal_block, 2 * A_.tile_n(k),
                                    common::size_of(A_.type()));
    accesses.push_back({inverses.handle(), STARPU_W});
    return inverses;
  }
  codelets::GetrfArgs panel_args(Index k, codelets::InfoValue* value) const {
    const double rows = rows_from(k), width = columns(k);
    return {{flops_.getrf(rows, width), A_.type(), rows, width},
            first_in_tile(k),
            tiles_from(row_of(k)),
            first(k),
            blocked_,
            value};
  }
  codelets::PanelUpdateArgs update_args(Index k, Index j) const {
    const double flops = flops_.update(rows_from(k), columns(k), columns(j));
    codelets::PanelUpdateArgs args{{flops, A_.type()}, first_in_tile(k), tiles_from(row_of(k)), blocked_};
    args.work.moved = elements_moved(columns(k), A_.tile_n(j));
    return args;
  }

  Index first(Index k) const { return k * pivots_.panel(); }  ///< row and column of the matrix at which panel k begins
  Index row_of(Index k) const { return A_.mt() == 1 ? 0 : first(k) / A_.mb(); }  ///< tile row of the diagonal block
  int first_in_tile(Index k) const { return static_cast<int>(first(k) - row_of(k) * A_.mb()); }
  /// The tile rows [first, second) of panel k that contain its part of a triangle.
  std::pair<Index, Index> rows_of_triangle(Uplo uplo, Index k) const {
    if (uplo == Uplo::Upper) return {0, row_of(k) + 1};
    return {row_of(k), A_.mt()};
  }
  int tiles_from(Index row) const { return static_cast<int>(A_.mt() - row); }
  int owner(Index j) const { return owned_ ? static_cast<int>(j / processes_ % gpus_) : -1; }

  const machine::Machine& machine_;
  Sink& sink_;
  tile::Stored A_;
  tile::PanelFlops flops_{A_.type()};
  PivotHandles pivots_;
  RowExchanges<Sink> exchanges_{sink_, pivots_};
  int gpus_;
  bool owned_;
  int processes_;  ///< number of processes, which own the panels in turn
  bool blocked_;
};

}  // namespace tessera::algorithms
