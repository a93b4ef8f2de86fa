// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <vector>

#include "algorithms/cholesky.hpp"
#include "algorithms/inverse.hpp"
#include "algorithms/lu.hpp"
#include "algorithms/lu_nopiv.hpp"
#include "algorithms/plan.hpp"
#include "algorithms/qr.hpp"
#include "algorithms/triangular.hpp"
#include "algorithms/triangular_panels.hpp"
#include "common/of_type.hpp"
#include "graph.hpp"
#include "machine/machine.hpp"
#include "rehearse.hpp"

/// The calls that are rehearsed. Each writes the operations that it would submit into a graph. Members that all have:
/// - the type of the elements (s, d, c or z), the extents, and whether the columns of operands are `far` apart because
///   these are parts of larger matrices; they identify a call
/// - flops() and bytes() of its operands
/// - task(plan): the products of a task
/// - estimate(model, plan, copies): rough time [s], which only decides which candidates are rehearsed first; 0: those
///   with the fewest operations first
/// - write(machine, plan, graph)
/// - for_cores(plan)
namespace tessera::plan {

using algorithms::Plan;
using tile::TileExtents;

/// What cores may compute of a result beside the GPUs.
struct ForCores {
  bool any = false;                    ///< whether they may compute anything
  bool rows = false, columns = false;  ///< which of the last ones; both: the last rows and columns
  Index whole = 0, widest = 0;         ///< the number of rows or columns in all, and of a tile
  Index gpus = 1;                      ///< among which tile rows or columns are dealt out evenly
  /// The work on the first lines grows with this power of their number: 2 for a triangle, 3 for a factorization.
  double power = 1;
  bool depends = false;  ///< whether cores wait for tiles of the GPUs
};

/// Whether a call on pointers requests all its tiles at the start. Without panels, only small operands in pinned memory
/// benefit, and all in pageable memory, from where a tile takes longer to arrive than the policy requests it in
/// advance. Tiles whose copies are not posted cannot be requested; see `sinks::LoadOn`.
inline bool loads_first(const machine::Machine& machine, const Plan& plan, double bytes) {
  constexpr double most_pinned = 1 << 26;
  const bool pageable = machine.operands == machine::in_pageable_memory,
             fit = machine.gpu_memory <= 0 || bytes <= machine.gpu_memory / 2,
             loads = pageable ? machine.posts_copies && machine.gpu_memory > 0 && fit : bytes <= most_pinned && fit;
  return machine.has_owners() && ((plan.sums == 1 && loads) || plan.panels.exist());
}

/// A factorization of an m×n matrix.
struct OfRectangle {
  char type;
  Index m, n;
  bool far = false;

  friend auto operator<=>(const OfRectangle&, const OfRectangle&) = default;
  Index order() const { return std::min(m, n); }
  double bytes() const {
    return static_cast<double>(common::size_of(type)) * static_cast<double>(m) * static_cast<double>(n);
  }
  double multiply_adds() const {  ///< of LU
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), order = std::min(rows, columns);
    return rows * columns * order - (rows + columns) * order * order / 2 + order * order * order / 3;
  }
  double flops() const { return common::flops_of_multiply_add(type) * multiply_adds(); }
  TileExtents task(const Plan& plan) const {
    return {std::min(plan.tile.m, m), std::min(plan.tile.n, n), std::min(plan.tile.k, order())};
  }
};

/// A factorization in square tiles.
struct InSquares : OfRectangle {
  bool alone = false;  ///< whether cores get no part

  friend auto operator<=>(const InSquares&, const InSquares&) = default;
  /// The last rows and columns. GPUs need none of their tiles, and each core works ahead on the sums of its own.
  ForCores for_cores(const Plan& plan) const {
    return {.any = !alone && m == n,
            .rows = true,
            .columns = true,
            .whole = n,
            .widest = plan.tile.n,
            .power = 3,
            .depends = true};
  }
  /// On cores: the mean work of a worker, or the tasks on the diagonal and one beside each, which follow one another.
  double estimate(const Machine& model, const Plan& plan, bool /*copies*/) const {
    if (plan.gpus > 0) return 0;
    const auto tile = static_cast<double>(std::min(plan.tile.k, order())), steps = static_cast<double>(order()) / tile;
    const double product = model.flops_per_multiply_add * tile * tile * tile,
                 task = model.core.product_seconds(product) + model.runtime.push;
    return std::max(flops() / product / model.cpu_workers, steps * 1.5) * task + model.cpu_workers * task / 2;
  }
};

/// A = L Lᴴ of order n.
struct Cholesky : InSquares {
  double bytes() const { return OfRectangle::bytes() / 2; }
  double flops() const { return OfRectangle::flops() / 2; }
  void write(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    const Outline A(graph, plan.rows(n), plan.columns(n), type, true);
    const auto region = tile::LowerView::region(A, Uplo::Lower);
    const tile::LowerView lower(A, Uplo::Lower, owners(machine, plan, A, region));
    Rehearse sink(graph, plan.load_first);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::potrf(to, lower, nullptr);
  }
  static tile::Owners owners(const machine::Machine& machine, const Plan& plan, const tile::Stored& A,
                             tile::Region region) {
    if (!machine.has_owners()) return {};
    const Index last = plan.rows_for_cores.count;
    tile::Owners all(plan.grid, A.mt() - last, A.nt() - last, region);
    if (last > 0) all.leave_to_cores(A.mt() - last, machine);
    return all;
  }
};

/// A = L U, without pivoting.
struct LuNoPiv : InSquares {
  void write(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    const tile::Edges rows = plan.rows_for_cores.count > 0 ? plan.rows(m) : tile::Edges(m, plan.tile.n);
    const Outline A(graph, rows, plan.columns(n), type);
    const tile::FullView tiles(A, Cholesky::owners(machine, plan, A, tile::Part::All));
    Rehearse sink(graph, plan.load_first);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::getrf_nopiv(to, tiles, Uplo::Lower, nullptr, {});
  }
};

/// A factorization in panels.
struct InPanels : OfRectangle {
  static ForCores for_cores(const Plan& /*plan*/) { return {}; }
  static double estimate(const Machine& /*model*/, const Plan& /*plan*/, bool /*copies*/) { return 0; }
  TileExtents task(const Plan& plan) const {
    const Index width = std::min(plan.tile.n, order());
    return {m, width, width};
  }
};

/// A = P⁻¹ L U, with partial pivoting. A panel may consist of several tiles.
struct Lu : InPanels {
  void write(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    const Outline A(graph, m, n, plan.tile.m, plan.tile.n, type);
    std::vector<starpu_data_handle_t> pivots;
    for (Index k = 0; k * plan.tile.n < order(); k++)
      pivots.push_back(as_handle(graph.add_temporary(static_cast<double>(plan.tile.n) * sizeof(int))));
    Rehearse sink(graph, false);
    algorithms::PanelOps<Rehearse> to(machine, sink, plan.grid.size(), A, {pivots, A.nb()});
    if (plan.load_first) to.request(sink);
    if (plan.load_first || !machine.has_owners()) algorithms::getrf(to, nullptr);
    else algorithms::getrf_out_of_core(to, plan.together, nullptr);
  }
};

/// The reflectors of a QR factorization that is only rehearsed: see detail::ReflectorTiles.
class ReflectorOutline {
 public:
  /// @param panel  columns of a panel
  /// @param all    number of reflectors
  ReflectorOutline(Graph& graph, Index all, Index panel, char type)
      : all_(all), panel_(panel), first_(static_cast<int>(graph.tiles.size())) {
    for (Index k = 0; k < panels(); k++) {
      const double order = static_cast<double>(count(k)), size = static_cast<double>(common::size_of(type));
      graph.add_temporary(order * size), graph.add_temporary(2 * order * order * size);
    }
  }

  Index panels() const noexcept { return tile::divide_up(all_, panel_); }
  Index panel() const noexcept { return panel_; }
  Index count(Index k) const noexcept { return std::min(panel_, all_ - k * panel_); }
  starpu_data_handle_t factors(Index k) const { return as_handle(first_ + static_cast<int>(2 * k)); }
  starpu_data_handle_t block(Index k) const { return as_handle(first_ + static_cast<int>(2 * k + 1)); }
  void release_block(Index /*k*/) {}

 private:
  Index all_, panel_;
  int first_;
};

/// A = Q R, in panels of full height.
struct Qr : InPanels {
  double flops() const { return 2 * OfRectangle::flops(); }
  void write(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    const Outline A(graph, m, n, m, plan.tile.n, type);
    ReflectorOutline reflectors(graph, order(), A.nb(), type);
    Rehearse sink(graph, false);
    algorithms::QrOps<Rehearse, ReflectorOutline> to(machine, sink, plan.grid.size(), A, reflectors);
    if (plan.load_first) to.request();
    if (plan.load_first || !machine.has_owners()) algorithms::geqrf(to, false);
    else algorithms::geqrf_out_of_core(to, plan.together);
  }
};

/// B ← op(A) B or B ← op(A)⁻¹ B with a triangular A. With A on the right, B is seen as its transpose, so its columns
/// are independent of each other.
struct Triangular {
  char type;
  Side side;
  bool inverse;
  bool one_panel;                 ///< whether all of B is in one panel if the call is in panels
  bool alone;                     ///< whether cores get no part
  Index of_triangle, of_columns;  ///< the order of A, and the other dimension of B
  bool far = false;

  friend auto operator<=>(const Triangular&, const Triangular&) = default;
  Index order() const { return of_triangle; }
  Index columns() const { return of_columns; }
  Index width(const Plan& plan) const { return side == Side::Left ? plan.tile.n : plan.tile.m; }
  TileExtents task(const Plan& plan) const {
    const Index rows = plan.panels.exist() ? order() : std::min(plan.tile.k, order()),
                wide = std::min(width(plan), columns());
    const Index terms = std::min(plan.tile.k, order());
    return side == Side::Left ? TileExtents{rows, wide, terms} : TileExtents{wide, rows, terms};
  }
  double flops() const {
    return common::flops_of_multiply_add(type) / 2 * static_cast<double>(order()) * static_cast<double>(order()) *
           static_cast<double>(columns());
  }
  double bytes() const {
    return static_cast<double>(common::size_of(type)) * static_cast<double>(order()) *
           (static_cast<double>(order()) / 2 + static_cast<double>(columns()));
  }
  bool loads_first(const machine::Machine& machine, const Plan& plan) const {
    return plan::loads_first(machine, plan, bytes());
  }
  void write(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    if (plan.panels.exist()) return write_panels(machine, plan, graph);
    const bool left = side == Side::Left;
    const tile::Edges rows(order(), plan.tile.k);
    const Outline A(graph, rows, rows, type, true);
    const Outline B =
        left ? Outline(graph, rows, plan.columns(columns()), type) : Outline(graph, plan.rows(columns()), rows, type);
    const algorithms::Sweep sweep(machine, plan, side, Uplo::Lower, left ? Op::NoTrans : Op::Trans, Diag::NonUnit, A,
                                  B);
    Rehearse sink(graph, loads_first(machine, plan));
    tile::Ops<Rehearse> to(machine, sink, type);
    if (inverse) algorithms::trsm(to, sweep, 1);
    else algorithms::trmm(to, sweep, 1);
  }
  ForCores for_cores(const Plan& plan) const {
    return {!alone,    side == Side::Right, side == Side::Left,
            columns(), width(plan),         plan.speeds.empty() ? plan.grid.q : 1};
  }
  double estimate(const Machine& model, const Plan& plan, bool copies) const {
    const double n = static_cast<double>(order()), wide = static_cast<double>(columns());
    const double tile = std::min(static_cast<double>(plan.tile.k), n),
                 width = std::min(static_cast<double>(this->width(plan)), wide), rows = std::ceil(n / tile),
                 across = std::ceil(wide / width), used = std::max(plan.gpus, 1);
    const auto& device = plan.gpus > 0 ? model.gpus.front() : model.core;
    const double whole_task = model.flops_per_multiply_add * tile * width * tile;
    const double workers =  // like the first
        plan.gpus > 0 ? model.products_per_second(plan.gpus, whole_task) * device.product_seconds(whole_task)
                      : model.cpu_workers;
    const auto task = [&](const char* operation, double part) {
      const double flops = part * whole_task;
      return device.task_seconds(operation, {flops}, model.element_size);
    };
    const double sharers = std::max(1.0, std::floor(workers / across));  // workers that share a tile column
    const double column = plan.panels.exist()
                              ? rows * (task("gemm", n / tile / 2) + model.runtime.push)
                              : rows * (rows - 1) / 2 * task("gemm", 1) / sharers +
                                    rows * (task(inverse ? "trsm" : "trmm", 0.5) + 2 * model.runtime.push);
    const double compute = std::ceil(across / workers) * column;
    if (plan.gpus == 0 || !copies) return compute;
    const double busy = std::min(1.0, compute * used * device.in_rate / bytes());
    const double all_rows = far ? std::numeric_limits<double>::infinity() : std::max(n, wide);
    const auto seconds = [&](double elements, double height) {
      return device.copy_seconds(elements, height, all_rows, model.element_size, busy) * model.crowding(plan.gpus);
    };
    const double of_a = plan.panels.exist() ? n / 2 : tile, of_b = plan.panels.exist()  ? n
                                                                   : side == Side::Left ? tile
                                                                                        : width;
    const double all = (seconds(n * n / 2, of_a) + seconds(n * wide, of_b)) / used,
                 rows_at_once = plan.panels.exist() ? n : tile, last = seconds(rows_at_once * width, of_b),
                 first = seconds(rows_at_once * tile / 2, of_a) + last;
    return std::max(first + compute, all + task("gemm", 1)) + std::min(compute, all) / 4 + last;
  }

 private:
  void write_panels(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    const bool left = side == Side::Left;
    const Outline A(graph, order(), order(), order(), plan.tile.k, type, true);
    const Outline B = left ? Outline(graph, order(), columns(), order(), plan.tile.n, type)
                           : Outline(graph, columns(), order(), columns(), order(), type);
    const Index gpus = plan.grid.size(), owners = machine.has_owners() ? gpus : 0;
    const tile::PanelView of_a(A, owners, Uplo::Lower), of_b(B, owners);
    Rehearse sink(graph, owners > 0);
    tile::Ops<Rehearse> to(machine, sink, type);
    const auto op = left ? Op::NoTrans : Op::Trans;
    algorithms::triangular_panels(
        to, {inverse, side, Uplo::Lower, op, Diag::NonUnit, tile::is_blocked(machine, A.tile_n(0))}, 1, of_a, of_b,
        plan.panels.ahead, gpus);
  }
};

}  // namespace tessera::plan
