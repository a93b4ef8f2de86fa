// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "loader.hpp"
#include "machine/gpu.hpp"
#include "pivot_tiles.hpp"
#include "row_exchanges.hpp"
#include "submit.hpp"
#include "tile/ops.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tasks of an LU factorization with partial pivoting, and of solves with it.
///
/// They work on panels: a column of tiles each, of which the last ones are all that a step changes. The tiles are as
/// wide as a panel and may be several times as tall.
///
/// If all of A fits the GPUs, or no GPU owns tiles, the factorization is right-looking: a factorized panel updates all
/// others at once, and the next one first. So the rows above it are final: they are written back during the next steps.
/// Else it is left-looking: a panel arrives, gets the updates of all panels before it, and is factorized. The exchanges
/// of rows by later panels come last, since until then updates need L as it was when its panel was factorized.
template <Scalar T>
class Lu {
 public:
  /// @param A  as stored, in panels; its tasks are those of this call
  Lu(const detail::Session& session, const detail::Plan& plan, const Matrix<T>& A, const detail::PivotTiles& pivots,
     const Matrix<T>& output)
      : session_(session), submitter_(session, output), A_(A), pivots_(pivots), gpus_(plan.grid.size()),
        owned_(session.machine().has_owners()), blocked_(tile::is_blocked(session, A.tile_n(0))) {}

  /// Requests all panels in the order of their first use, see algorithms::load.
  void load() const {
    Loader loader(session_);
    for (Index j = 0; j < A_.nt(); j++)
      for (Index i = 0; i < A_.mt(); i++) loader.load(A_.handle(i, j), owner(j));
  }

  /// Right-looking, but for the first panels. While A arrives, few columns can be updated, and each of them should get
  /// as many updates as possible. Some of these run beside the factorization of the next panel.
  void factorize(codelets::InfoValue* value) {
    const Index first_ones = first_panels();
    std::vector<TemporaryTile> inverses(static_cast<std::size_t>(A_.nt()));
    const auto of = [&](Index k) -> TemporaryTile& { return inverses[static_cast<std::size_t>(k)]; };
    std::vector<Index> updated(inverses.size());  // the number of updates that each panel has got
    const auto update_up_to = [&](Index end, Index j) {
      for (auto& k = updated[static_cast<std::size_t>(j)]; k < end; k++) update(k, j, of(k));
    };
    double elapsed = 0;  // [s]
    for (Index j = 0; j < A_.nt(); j++) {
      update_up_to(std::min(j, first_ones), j);
      if (j > first_ones || j >= pivots_.panels()) continue;
      std::vector<Index> beside;
      if (j > 0) beside = panels_beside(j - 1, j, arrived(elapsed));
      for (const auto i : beside) {
        update_up_to(j - 1, i);
        updated[static_cast<std::size_t>(i)] = j;
      }
      of(j) = beside.empty() ? factorize_panel(j, value) : factorize_beside(j, j - 1, of(j - 1), beside, value);
      elapsed += seconds_of_panel(j);
    }
    for (Index k = 0; k < first_ones; k++) finish_rows(k);
    for (Index k = first_ones; k < pivots_.panels(); k++) {
      const Index next = k + 1;
      if (next < A_.nt()) update_up_to(next, next);
      if (next < pivots_.panels()) {
        const auto beside = panels_beside(k, next, A_.nt());
        for (const auto j : beside) updated[static_cast<std::size_t>(j)] = next;
        of(next) = beside.empty() ? factorize_panel(next, value) : factorize_beside(next, k, of(k), beside, value);
      }
      for (Index j = next + 1; j < A_.nt(); j++) update_up_to(next, j);
      of(k).release();
      finish_rows(k);
    }
  }

  /// Left-looking.
  /// @param together  panels that get the updates of an earlier panel one after another: that panel is fetched once for
  ///                  all of them
  void factorize_out_of_core(Index together, codelets::InfoValue* value) {
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
    for (Index j = 0; j < pivots_.panels(); j++) exchange(A_, j, j + 1, pivots_.panels());
  }

  /// The task that writes `info`. Call this last.
  void submit_outcome(starpu_data_handle_t info, codelets::InfoValue* value) {
    const Index last = pivots_.panels() - 1;
    submitter_.submit(codelets::outcome(), {{A_.handle(row_of(last), last), STARPU_R}, {info, STARPU_W}},
                      codelets::OutcomeArgs{{0, type_letter<T>}, value}, owner(last));
  }

  /// B ← op(A)⁻¹ B
  /// @param B  its tiles have the rows of A's
  void solve(Op op, const Matrix<T>& B) {
    const Index count = pivots_.panels();
    for (Index j = 0; j < B.nt(); j++) {
      if (op == Op::NoTrans) {
        exchange(B, j, 0, count);
        for (Index k = 0; k < count; k++) step(Uplo::Lower, op, k, B, j);
        for (Index k = count - 1; k >= 0; k--) step(Uplo::Upper, op, k, B, j);
      } else {
        for (Index k = 0; k < count; k++) step(Uplo::Upper, op, k, B, j);
        for (Index k = count - 1; k >= 0; k--) step(Uplo::Lower, op, k, B, j);
        exchanges_.exchange_back(B, j, owner(j));
      }
    }
  }

 private:
  /// Tiles [begin, end) of column j of X.
  void add_tiles(std::vector<Access>& accesses, const Matrix<T>& X, Index j, Index begin, Index end,
                 starpu_data_access_mode mode) const {
    for (Index i = begin; i < end; i++) accesses.push_back({X.handle(i, j), mode});
  }

  /// The first panels, which update each column while the next one arrives.
  Index first_panels() const {
    constexpr Index most = 4, without_gpus = 8;  // one of so many panels
    constexpr double flops_of_byte = 1000;       // what an H100 computes while a byte crosses its link
    if (!owned_ || A_.nt() < 2) return std::min(pivots_.panels(), std::max<Index>(1, A_.nt() / without_gpus));
    const double wanted = std::round(bytes_of_panel(1) * flops_of_byte / std::max(update_args(0, 1).work.flops, 1.0));
    return std::min(pivots_.panels(),
                    std::clamp<Index>(static_cast<Index>(wanted), 1, std::max<Index>(1, A_.nt() / most)));
  }

  /// Factorizes panel k.
  /// @return  the inverses of the blocks on the diagonal of L, if updates use them
  TemporaryTile factorize_panel(Index k, codelets::InfoValue* value) {
    std::vector<Access> accesses;
    auto inverses = add_factorized(accesses, k);
    submitter_.step(k);
    submitter_.submit(codelets::getrf<T>(), std::span<const Access>(accesses), panel_args(k, value), owner(k));
    return inverses;
  }

  /// The same, while panel `before` updates the panels `others`, by the GPU of panel k.
  TemporaryTile factorize_beside(Index k, Index before, const TemporaryTile& of_before,
                                 const std::vector<Index>& others, codelets::InfoValue* value) {
    std::vector<Access> accesses;
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
    submitter_.step(before);
    submitter_.submit(codelets::getrf_beside_updates<T>(), std::span<const Access>(accesses), args, owner(k));
    return inverses;
  }

  /// The panels before `end` that the GPU of panel `next` updates by panel k while it factorizes panel `next`: as many
  /// as take that long on an H100, see device_lanes.hpp, and no more than half of a GPU holds. Not by measured times:
  /// the same call on the same GPUs has the same result.
  std::vector<Index> panels_beside(Index k, Index next, Index end) const {
    constexpr double rate = 40e12;     // of products beside a panel [flop/s]
    constexpr double shortest = 1e-4;  // update [s]: its kernels must be launched
    constexpr double of_memory = 0.5;
    std::vector<Index> panels;
    if (!owned_ || !beside_) return panels;
    const double seconds = seconds_of_panel(next), memory = of_memory * session_.machine().gpu_memory;
    double filled = 0, bytes = 2 * bytes_of_panel(k);
    for (Index j = next + gpus_; j < end && filled < seconds; j += gpus_) {
      const double update = std::max(update_args(k, j).work.flops / rate, shortest);
      bytes += bytes_of_panel(j);
      if ((filled > 0 && filled + update / 2 > seconds) || (memory > 0 && bytes > memory)) break;
      filled += update;
      panels.push_back(j);
    }
    return panels;
  }
  /// What an H100 takes to factorize panel k beside products [s].
  double seconds_of_panel(Index k) const {
    constexpr double of_column = 5e-6, of_byte = 1.6e-11;
    return static_cast<double>(A_.tile_n(k)) *
           (of_column + of_byte * static_cast<double>(A_.m() - first(k)) * sizeof(T));
  }
  /// The number of panels that have arrived after some time [s], over a link to each GPU.
  Index arrived(double seconds) const {
    constexpr double rate = 5e10;  // of the link of an H100 [B/s]
    return std::min(A_.nt(), static_cast<Index>(seconds * rate / bytes_of_panel(0)) * gpus_);
  }
  double bytes_of_panel(Index j) const {
    return static_cast<double>(A_.m()) * static_cast<double>(A_.tile_n(j)) * sizeof(T);
  }

  /// Adds panel k, its pivots and the inverses of its diagonal blocks, which are returned, if updates use them.
  TemporaryTile add_factorized(std::vector<Access>& accesses, Index k) const {
    add_tiles(accesses, A_, k, row_of(k), A_.mt(), STARPU_RW);
    accesses.push_back({pivots_.handle(k), STARPU_W});
    TemporaryTile inverses;
    if (blocked_) {
      inverses = TemporaryTile(codelets::diagonal_block, 2 * A_.tile_n(k), sizeof(T));
      inverses.stand_for(detail::MatrixAccess::grid(A_), row_of(k), k);
      accesses.push_back({inverses.handle(), STARPU_W});
    }
    return inverses;
  }
  codelets::GetrfArgs panel_args(Index k, codelets::InfoValue* value) const {
    const auto rows = static_cast<double>(A_.m() - first(k)), columns = static_cast<double>(A_.tile_n(k));
    const double flops = flops_per_multiply_add<T> / 2 * columns * columns * std::max(rows - columns / 3, 0.0);
    return {{flops, type_letter<T>, rows, columns}, first_in_tile(k), tiles_from(row_of(k)), first(k), blocked_, value};
  }

  /// If panel k ends a row of tiles: exchanges the rows of the panels before it, down to the last. Then this row of
  /// tiles is final, and is written back.
  void finish_rows(Index k) {
    if (k + 1 < pivots_.panels() && row_of(k + 1) == row_of(k)) return;
    const Index begin =
        A_.mt() == 1 ? 0 : row_of(k) * A_.mb() / pivots_.panel();  // the first panel in this row of tiles
    for (Index j = 0; j < k; j++) exchange(A_, j, std::max(j + 1, begin), k + 1);
  }

  void update(Index k, Index j, const TemporaryTile& inverses) {
    std::vector<Access> accesses;
    add_tiles(accesses, A_, k, row_of(k), A_.mt(), STARPU_R);
    accesses.push_back({pivots_.handle(k), STARPU_R});
    add_tiles(accesses, A_, j, row_of(k), A_.mt(), STARPU_RW);
    if (blocked_) accesses.push_back({inverses.handle(), STARPU_R});
    submitter_.step(k);
    submitter_.submit(codelets::panel_update<T>(), std::span<const Access>(accesses), update_args(k, j), owner(j));
  }
  codelets::PanelUpdateArgs update_args(Index k, Index j) const {
    const auto rows = static_cast<double>(A_.m() - first(k)), columns = static_cast<double>(A_.tile_n(k));
    const double flops =
        flops_per_multiply_add<T> * columns * static_cast<double>(A_.tile_n(j)) * std::max(rows - columns / 2, 0.0);
    codelets::PanelUpdateArgs args{{flops, type_letter<T>}, first_in_tile(k), tiles_from(row_of(k)), blocked_};
    args.work.moved = RowExchanges<T>::moved(columns, A_.tile_n(j));
    return args;
  }

  /// Exchanges rows of column j of X by the pivots of panels [begin, end).
  void exchange(const Matrix<T>& X, Index j, Index begin, Index end) {
    exchanges_.exchange(X, j, begin, end, owner(j));
  }

  void step(Uplo uplo, Op op, Index k, const Matrix<T>& B, Index j) {
    const bool upper = uplo == Uplo::Upper;
    const Index begin = upper ? 0 : row_of(k), end = upper ? row_of(k) + 1 : A_.mt();
    std::vector<Access> accesses;
    add_tiles(accesses, A_, k, begin, end, STARPU_R);
    add_tiles(accesses, B, j, begin, end, STARPU_RW);
    const double columns = static_cast<double>(A_.tile_n(k));
    const double rows =
        upper ? static_cast<double>(first(k)) + columns / 2 : static_cast<double>(A_.m() - first(k)) - columns / 2;
    const double flops = flops_per_multiply_add<T> * rows * columns * static_cast<double>(B.tile_n(j));
    submitter_.step(k);
    submitter_.submit(codelets::panel_solve<T>(), std::span<const Access>(accesses),
                      codelets::PanelSolveArgs{{flops, type_letter<T>},
                                               static_cast<int>(first(k) - begin * A_.mb()),
                                               static_cast<int>(end - begin),
                                               uplo,
                                               op},
                      owner(j));
  }

  Index first(Index k) const { return k * pivots_.panel(); }                     ///< row and column of the matrix
  Index row_of(Index k) const { return A_.mt() == 1 ? 0 : first(k) / A_.mb(); }  ///< of the tile of the diagonal block
  int first_in_tile(Index k) const { return static_cast<int>(first(k) - row_of(k) * A_.mb()); }
  int tiles_from(Index row) const { return static_cast<int>(A_.mt() - row); }
  int owner(Index j) const { return owned_ ? static_cast<int>(j % gpus_) : -1; }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>& A_;
  const detail::PivotTiles& pivots_;
  RowExchanges<T> exchanges_{submitter_, pivots_};
  int gpus_;
  bool owned_, blocked_, beside_ = owned_ && session_.machine().has_cuda() && gpu::factorizes_beside_products();
};

}  // namespace tessera::unroll
