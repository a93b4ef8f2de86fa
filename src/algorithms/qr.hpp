// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "common/of_type.hpp"
#include "machine/machine.hpp"
#include "panel_sweeps.hpp"
#include "panel_times.hpp"
#include "plan.hpp"
#include "reflector_tiles.hpp"
#include "tile/ops.hpp"
#include "tile/panel_flops.hpp"

/// QR factorization in panels of full height, with one tile per panel, and operations with its reflectors.
namespace tessera::algorithms {

/// The operations of a QR factorization.
/// @tparam Sink        see tile::Ops
/// @tparam Reflectors  has the functions of `ReflectorTiles` that say how many there are and where
template <typename Sink, typename Reflectors = detail::ReflectorTiles>
class QrOps {
 public:
  /// @param A     as stored, in panels
  /// @param gpus  number of GPUs that own the panels of A round-robin, if the session assigns owners
  QrOps(const machine::Machine& machine, Sink& sink, int gpus, const tile::Stored& A, Reflectors& reflectors)
      : machine_(machine), sink_(sink), to_(machine, sink, A.type()), A_(A), reflectors_(reflectors), gpus_(gpus),
        owned_(machine.has_owners()) {}

  const machine::Machine& machine() const noexcept { return machine_; }
  int gpus() const noexcept { return gpus_; }
  Index turn() const noexcept { return gpus_; }
  Index panels() const noexcept { return A_.nt(); }
  double element_size() const { return static_cast<double>(common::size_of(A_.type())); }
  Index factors() const noexcept { return reflectors_.panels(); }  ///< the panels that have reflectors
  bool are_owned() const noexcept { return owned_; }
  double columns(Index k) const { return static_cast<double>(A_.tile_n(k)); }
  double rows_from(Index k) const { return static_cast<double>(A_.m() - first(k)); }
  double bytes(Index k) const {
    return static_cast<double>(A_.m()) * columns(k) * static_cast<double>(common::size_of(A_.type()));
  }
  /// Whether copies take longer than arithmetic. Each panel should then return as soon as its own columns have arrived.
  bool is_bound_by_copies() const noexcept { return algorithms::is_tall_for_qr(A_.m(), A_.n()); }
  double update_flops(Index k, Index j) const { return flops_.larfb(rows_from(k), count(k), columns(j)); }

  /// Requests all panels from first to last, the order in which `geqrf` expects them.
  void request() {
    for (Index j = 0; j < panels(); j++) sink_.load(A_.handle(0, j), owner(j));
  }

  /// Factorizes panel k.
  void factorize(Index k) {
    sink_.step(k);
    sink_.submit(codelets::geqrf(A_.type()),
                 {{A_.handle(0, k), STARPU_RW}, {reflectors_.factors(k), STARPU_W}, {reflectors_.block(k), STARPU_W}},
                 factor_args(k), owner(k));
    report(k);
  }
  /// Factorizes panel k while the panels `others` get the reflections of panel `before` on the same GPU.
  void factorize_beside(Index k, Index before, const std::vector<Index>& others) {
    std::vector<tile::Access> accesses{{A_.handle(0, k), STARPU_RW},
                                       {reflectors_.factors(k), STARPU_W},
                                       {reflectors_.block(k), STARPU_W},
                                       {A_.handle(0, before), STARPU_R},
                                       {reflectors_.block(before), STARPU_R}};
    codelets::GeqrfBesideUpdatesArgs args{
        {}, factor_args(k), {{0, A_.type()}, first(before), Side::Left, true}, static_cast<int>(others.size())};
    args.work = args.panel.work;
    for (const auto j : others) {
      accesses.push_back({A_.handle(0, j), STARPU_RW});
      const double flops = update_flops(before, j);
      args.work.flops += flops, args.work.beside += flops;
    }
    sink_.step(before);
    sink_.submit(codelets::geqrf_beside_updates(A_.type()), std::span<const tile::Access>(accesses), args, owner(k));
    report(k);
  }
  /// Submits the tasks that report on a factorized panel: its zeros and its size, if requested.
  void report(Index k) {
    if (zeros_ != nullptr) to_.find_zero(panel(k), first(k), first(k), zeros_);
    // The factors of a panel are zero only if the panel itself is zero.
    if (size_ != nullptr) to_.growth(panel(k), common::Part::All, codelets::GrowthValue::Matrix, size_, result_);
  }
  /// Computes the block of reflectors of panel k, which was factorized by an earlier call.
  void make_block(Index k) {
    sink_.step(k);
    sink_.submit(codelets::larft(A_.type()),
                 {{A_.handle(0, k), STARPU_R}, {reflectors_.factors(k), STARPU_R}, {reflectors_.block(k), STARPU_W}},
                 args_of(k, flops_.larft(rows_from(k), count(k))), owner(k));
  }
  /// Applies the reflectors of panel k to panel j.
  void update(Index k, Index j, bool adjoint) { apply(Side::Left, adjoint, k, A_, j); }
  /// Applies the reflectors of panel k to a panel of X: to columns from the left, to rows from the right.
  void apply(Side side, bool adjoint, Index k, const tile::Stored& X, Index j) {
    const bool left = side == Side::Left;
    const double others = static_cast<double>(left ? X.tile_n(j) : X.tile_m(j));
    const codelets::LarfbArgs args{{flops_.larfb(rows_from(k), count(k), others), A_.type()}, first(k), side, adjoint};
    sink_.step(k);
    sink_.submit(codelets::larfb(A_.type()),
                 {{A_.handle(0, k), STARPU_R},
                  {reflectors_.block(k), STARPU_R},
                  {left ? X.handle(0, j) : X.handle(j, 0), STARPU_RW}},
                 args, owner(j));
  }
  /// Replaces panel k by its columns of Q, as if no other panel had reflectors.
  void generate(Index k) {
    sink_.step(k);
    sink_.submit(codelets::ungqr(A_.type()), {{A_.handle(0, k), STARPU_RW}, {reflectors_.block(k), STARPU_R}},
                 args_of(k, flops_.ungqr(rows_from(k), columns(k))), owner(k));
  }
  /// Applies panel k to column j of B, as one step of a solve with R or its adjoint.
  void solve(Op op, Index k, const tile::Stored& B, Index j) {
    const double rows = first(k) + columns(k) / 2;
    const double flops = flops_.solve(rows, columns(k), static_cast<double>(B.tile_n(j)));
    sink_.step(k);
    sink_.submit(codelets::panel_solve(A_.type()), {{A_.handle(0, k), STARPU_R}, {B.handle(0, j), STARPU_RW}},
                 codelets::PanelSolveArgs{{flops, A_.type()}, first(k), 1, Uplo::Upper, op}, owner(j));
  }
  /// Sets the rows of B from `begin` on to 0 in column j.
  /// @param only_with  as in codelets::clear_rows
  /// @param result     what `outcome` will write, if `only_with` is not null
  void clear_rows(const tile::Stored& B, Index j, Index begin, const codelets::GrowthValue* only_with = nullptr,
                  starpu_data_handle_t result = nullptr) {
    const codelets::ClearRowsArgs args{{0, A_.type()}, static_cast<int>(begin), only_with};
    const tile::Access b{B.handle(0, j), STARPU_RW};
    if (only_with == nullptr) sink_.submit(codelets::clear_rows(A_.type()), {b}, args, owner(j));
    else sink_.submit(codelets::clear_rows(A_.type()), {b, {result, STARPU_R}}, args, owner(j));
  }
  /// From now on, `value` receives the first zero on the diagonal of R. Each panel is searched before others use it, so
  /// the last panel waits for all searches.
  void report_zeros_to(codelets::InfoValue* value) { zeros_ = value; }
  /// From now on, `value` receives the largest element of A.
  /// @param result  what `outcome` will write
  void report_size_to(codelets::GrowthValue* value, starpu_data_handle_t result) { size_ = value, result_ = result; }
  /// result ← value, after the last panel with reflectors has been searched for zeros.
  void outcome(starpu_data_handle_t result, codelets::OutcomeValue* value) {
    to_.outcome(panel(factors() - 1), result, value);
  }
  /// Releases the block of panel k, which no further task uses.
  void finish(Index k) { reflectors_.release_block(k); }

 private:
  codelets::ReflectorArgs factor_args(Index k) const {
    auto args = args_of(k, flops_.geqrf(rows_from(k), columns(k), count(k)));
    args.work.rows = rows_from(k), args.work.columns = columns(k);
    return args;
  }
  codelets::ReflectorArgs args_of(Index k, double flops) const { return {{flops, A_.type()}, first(k)}; }
  tile::Tile panel(Index k) const { return tile::tile_of(A_, 0, k, owner(k)); }
  int first(Index k) const { return static_cast<int>(k * reflectors_.panel()); }  ///< row and column of the matrix
  double count(Index k) const { return static_cast<double>(reflectors_.count(k)); }
  int owner(Index j) const { return owned_ ? static_cast<int>(j % gpus_) : -1; }

  const machine::Machine& machine_;
  Sink& sink_;
  tile::Ops<Sink> to_;
  codelets::InfoValue* zeros_ = nullptr;
  codelets::GrowthValue* size_ = nullptr;
  starpu_data_handle_t result_ = nullptr;
  tile::Stored A_;
  tile::PanelFlops flops_{A_.type()};
  Reflectors& reflectors_;
  int gpus_;
  bool owned_;
};

/// A = Q R, right-looking: a factorized panel updates the next one first, which is then factorized while the others get
/// their updates. The first panels are an exception, see `first_panels`. Some updates are in the task that factorizes a
/// panel, and run at the same time.
/// @param keep  whether the blocks of the reflectors will be used again
template <typename Sink, typename Reflectors>
void geqrf(QrOps<Sink, Reflectors>& to, bool keep) {
  const PanelTimes times(to);
  const Index all = to.panels(), factors = to.factors(), first_ones = first_panels(to, factors);
  std::vector<Index> updates(static_cast<std::size_t>(all));  // number of updates that each panel has received
  const auto updated = [&](Index j) -> auto& { return updates[static_cast<std::size_t>(j)]; };
  const auto update_up_to = [&](Index end, Index j) {
    for (auto& k = updated(j); k < end; k++) to.update(k, j, true);
  };
  const auto factorize = [&](Index j, Index arrived) {  // panel j, while the panel before it updates others
    const bool alone = j == 0 || to.is_bound_by_copies() || (to.gpus() > 1 && !times.updates_take_longer(j - 1, j));
    const auto beside = alone ? std::vector<Index>{} : times.panels_beside(j - 1, j, arrived);
    for (const auto i : beside) {
      update_up_to(j - 1, i);
      updated(i) = j;
    }
    if (beside.empty()) to.factorize(j);
    else to.factorize_beside(j, j - 1, beside);
  };
  const auto done = [&](Index k) {
    if (!keep) to.finish(k);
  };
  double elapsed = 0;  // [s]
  for (Index j = 0; j < all; j++) {
    update_up_to(std::min(j, first_ones), j);
    if (j > first_ones || j >= factors) continue;
    factorize(j, times.arrived(elapsed));
    elapsed += times.seconds_of(j);
  }
  for (Index k = 0; k < first_ones; k++) done(k);
  for (Index k = first_ones; k < factors; k++) {
    const Index next = k + 1;
    if (next < all) update_up_to(next, next);
    if (next < factors) factorize(next, all);
    for (Index j = next + 1; j < all; j++) update_up_to(next, j);
    done(k);
  }
}

/// A = Q R, left-looking.
/// @param together  see `left_looking`
template <typename Sink, typename Reflectors>
void geqrf_out_of_core(QrOps<Sink, Reflectors>& to, Index together) {
  left_looking(
      to.panels(), to.factors(), together, [&](Index k, Index j) { to.update(k, j, true); },
      [&](Index j) { to.factorize(j); });
}

/// C ← Q C, Qᴴ C, C Q or C Qᴴ.
/// @param C  if Q is on its left, in panels like A; otherwise in rows of full width
template <typename Sink>
void unmqr(QrOps<Sink>& to, Side side, bool adjoint, const tile::Stored& C) {
  const Index count = to.factors(), panels = side == Side::Left ? C.nt() : C.mt();
  const bool forward = (side == Side::Left) == adjoint;
  for (Index j = 0; j < panels; j++)
    for (Index s = 0; s < count; s++) to.apply(side, adjoint, forward ? s : count - 1 - s, C, j);
}

/// A ← Q, from the last panel to the first, because earlier panels do not need the reflectors of later ones.
/// @pre  all panels have reflectors for all of their columns
template <typename Sink>
void ungqr(QrOps<Sink>& to) {
  for (Index j = to.panels() - 1; j >= 0; j--) {
    to.generate(j);
    for (Index k = j - 1; k >= 0; k--) to.update(k, j, false);
  }
}

/// Sets the rows of B from `begin` on to 0.
/// @param condition  see QrOps::clear_rows
template <typename Sink>
void clear_rows(QrOps<Sink>& to, const tile::Stored& B, Index begin, auto... condition) {
  if (begin < B.m())
    for (Index j = 0; j < B.nt(); j++) to.clear_rows(B, j, begin, condition...);
}

/// B ← R⁻¹ B or R⁻ᴴ B.
template <typename Sink>
void solve_with_r(QrOps<Sink>& to, Op op, const tile::Stored& B) {
  const Index count = to.factors();
  for (Index j = 0; j < B.nt(); j++)
    for (Index s = 0; s < count; s++) to.solve(op, op == Op::NoTrans ? count - 1 - s : s, B, j);
}

}  // namespace tessera::algorithms
