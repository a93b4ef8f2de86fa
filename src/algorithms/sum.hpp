// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/plan.hpp"
#include "cores.hpp"
#include "panel_order.hpp"
#include "product_order.hpp"
#include "tile/ops.hpp"
#include "tile/views.hpp"

namespace tessera::algorithms {

/// C ← Σ terms + β C on a region of C. This class defines the order of the terms and where each is added.
///
/// The sum of a tile is one chain of tasks on the tile of C itself, with two exceptions:
/// - If the first task would wait for C to arrive, the sum is deferred: it starts in a temporary tile, and β C is added
///   at the end.
/// - If there are fewer tiles than workers, the sum is split into several chains. Their results are added in a fixed
///   order, so the same call gives the same bits.
class Sum {
 public:
  /// @param plan           plan for the tiles of C
  /// @param processes      the grid of processes that share C
  /// @param real_diagonal  whether to ignore the imaginary parts of the diagonal of C; only for a triangle
  /// @param keeps_order    whether to compute the order now, because it is read more than once
  Sum(const machine::Machine& machine, const algorithms::Plan& plan, tile::ResultView C, tile::OwnerGrid processes,
      const common::Number& beta, bool real_diagonal, bool keeps_order)
      : C_(std::move(C)), terms_(plan.terms), sums_(plan.sums), panels_(plan.panels.exist()), block_(plan.block),
        task_(plan.task()), beta_(beta == 0 ? common::Number() : beta), real_diagonal_(real_diagonal) {
    block_.rows *= processes.p, block_.columns *= processes.q;  // a plan describes the block of one process
    if (panels_) order_ = panel_order(C_.mt(), C_.nt(), terms_, plan.panels, C_.owners());
    of_cores_ = {plan.rows_for_cores.count, plan.columns_for_cores.count};
    const bool has_cores = plan.has_cores() && processes.size() == 1;
    if (order_.empty() && (keeps_order || has_cores)) {
      std::vector<Step> all;
      for_each_step([&](const Step& step) { all.push_back(step); });
      order_ = std::move(all);
    }
    const Index last = C_.region().tiles(mt(), nt()) - C_.region().tiles(mt() - of_cores_.m, nt() - of_cores_.n);
    if (has_cores)
      cores_ = CoreTiles(order_, C_.mt(), std::max(plan.for_cores, last), machine, [&](Index i, Index j) {
        const auto tile = C_(i, j);
        return tile.rows * tile.columns;
      });
  }

  Index mt() const noexcept { return C_.mt(); }
  Index nt() const noexcept { return C_.nt(); }
  Index sums() const noexcept { return sums_; }
  const common::Number& beta() const noexcept { return beta_; }
  bool real_diagonal() const noexcept { return real_diagonal_; }
  tile::Tile operator()(Index i, Index j) const { return C_(i, j); }

  template <typename Visit>
  void for_each_step(Visit visit) const {
    if (!order_.empty()) return void(std::ranges::for_each(order_, visit));
    const Index rows = mt() - of_cores_.m, columns = nt() - of_cores_.n;
    for_each_product(rows, columns, C_.region(), terms_, block_, C_.owners(), task_, visit);
    for (Index j = 0; j < nt(); j++)
      for (Index i = j < columns ? rows : 0; i < mt(); i++)
        if (C_.region().contains(i, j))
          for (Index term = 0; term < terms_; term++) visit(Step{i, j, term, term, false});
  }
  /// The index of the partial sum to which a step belongs.
  Index sum_of(const Step& step) const { return step.term * sums_ / terms_; }
  bool begins(const Step& step) const { return step.term == first_term(sum_of(step)); }
  bool ends(const Step& step) const { return step.term + 1 == first_term(sum_of(step) + 1); }
  bool is_deferred(const Step& step) const {
    return step.deferred && C_.has_memory() && beta_ != 0 && terms_ > 1 && sums_ == 1 && cores_.of(step) < 0 &&
           (panels_ || !C_.region().on_diagonal(step.i, step.j));
  }
  /// The tile to which a step adds its term, described like the tile of C. The partial sums of a tile are distributed
  /// over GPUs.
  tile::Tile target(const Step& step) const {
    auto target = C_(step.i, step.j);
    if (cores_.of(step) >= 0) target.owner = cores_.of(step);
    else if (target.owner >= 0)
      target.owner = static_cast<int>((target.owner + sum_of(step)) % C_.owners().grid().size());
    if (is_deferred(step) && begins(step) && !panels_) target.wanted_next = target.handle;
    return target;
  }

 private:
  Index first_term(Index sum) const { return (sum * terms_ + sums_ - 1) / sums_; }

  tile::ResultView C_;
  Index terms_, sums_;
  bool panels_;
  tile::TileExtents of_cores_ = {};  ///< number of the last tile rows and columns, which cores compute
  algorithms::Block block_;
  tile::TileExtents task_;
  common::Number beta_;
  bool real_diagonal_;
  std::vector<Step> order_;  ///< empty: the order of `for_each_product`, computed while tasks are submitted
  CoreTiles cores_;
};

/// @param add  (tile::Ops<Sink>&, const Step&, const Number& beta, const tile::Tile& C): C ← the term of a step + β C
template <typename Sink, typename Term>
void accumulate(tile::Ops<Sink>& to, const Sum& C, const Term& add) {
  std::vector<std::optional<typename Sink::Temporary>> parts(static_cast<std::size_t>(C.mt() * C.nt() * C.sums()));
  C.for_each_step([&](const Step& step) {
    const Index sum = C.sum_of(step);
    const bool deferred = C.is_deferred(step);
    auto target = C.target(step);
    auto& part = parts[static_cast<std::size_t>((step.i + step.j * C.mt()) * C.sums() + sum)];
    if (C.begins(step) && (deferred || sum > 0)) part = to.partial_sum(target);
    if (part) target.handle = part->handle(), target.keeps_rest = false;
    add(to, step, !C.begins(step) ? common::Number(1) : part ? common::Number() : C.beta(), target);
    if (!part || !C.ends(step)) return;
    to.add(*part, C.real_diagonal(), deferred ? C.beta() : common::Number(1), C(step.i, step.j));
    part.reset();
  });
}

}  // namespace tessera::algorithms
