// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/cholesky.hpp"
#include "algorithms/inverse.hpp"
#include "algorithms/lu.hpp"
#include "algorithms/lu_nopiv.hpp"
#include "algorithms/qr.hpp"
#include "algorithms/triangular.hpp"
#include "algorithms/triangular_panels.hpp"
#include "common/of_type.hpp"
#include "graph.hpp"
#include "machine/machine.hpp"
#include "rehearse.hpp"

/// The calls that can be rehearsed. Each writes the operations that it would submit into a graph.
namespace tessera::plan {

/// One way to cut a call into tiles or panels.
struct Candidate {
  Index tile = 0;   ///< order of the diagonal tiles; rows of a tile for LU with pivoting
  Index width = 0;  ///< of the tiles of B, across its independent columns, or of the panels of a factorization
  int gpus = 1;     ///< number of GPUs used, counted from GPU 0
  /// Only for a triangle on the left. If there are panels, B is cut into panels `width` wide and the triangle into
  /// panels `tile` wide.
  detail::Panels panels = {};
};

/// The products of a task.
inline detail::TileExtents task_of(const Candidate& chosen, Index order, Index columns) {
  const Index tile = std::min(chosen.tile, order);
  return {chosen.panels.exist() ? order : tile, std::min(chosen.width, columns), tile};
}

/// A = L Lᴴ of order n.
struct Cholesky {
  using Candidate = plan::Candidate;
  char type;  ///< letter of the elements: s, d, c or z
  Index n;

  Index order() const { return n; }
  Index columns() const { return n; }
  detail::TileExtents task(const Candidate& chosen) const { return task_of(chosen, order(), columns()); }
  double flops() const {
    return flops_of_multiply_add(type) / 6 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  }
  void write(const detail::Machine& machine, const Candidate& chosen, Graph& graph) const {
    const Outline A(graph, n, n, chosen.tile, chosen.tile, type, true);
    const tile::LowerView lower(
        A, Uplo::Lower, {detail::owner_grid(chosen.gpus), A.mt(), A.nt(), tile::LowerView::region(A, Uplo::Lower)});
    Rehearse sink(graph, true);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::potrf(to, lower, nullptr);
  }
};

/// A factorization of an m×n matrix.
struct OfRectangle {
  using Candidate = plan::Candidate;
  char type;  ///< of the elements: s, d, c or z
  Index m, n;

  Index order() const { return std::min(m, n); }
  Index columns() const { return n; }
  double multiply_adds() const {  ///< of LU
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), order = std::min(rows, columns);
    return rows * columns * order - (rows + columns) * order * order / 2 + order * order * order / 3;
  }
};

/// A = L U, without pivoting.
struct LuNoPiv : OfRectangle {
  detail::TileExtents task(const Candidate& chosen) const { return task_of(chosen, order(), columns()); }
  double flops() const { return flops_of_multiply_add(type) * multiply_adds(); }
  void write(const detail::Machine& machine, const Candidate& chosen, Graph& graph) const {
    const Outline A(graph, m, n, chosen.tile, chosen.tile, type);
    const tile::FullView tiles(A, {detail::owner_grid(chosen.gpus), A.mt(), A.nt(), detail::Part::All});
    Rehearse sink(graph, true);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::getrf_nopiv(to, tiles, Uplo::Lower, nullptr, {});
  }
};

/// A = P⁻¹ L U, with partial pivoting, in panels of tiles that are `Candidate::tile` tall and `width` wide.
struct Lu : OfRectangle {
  detail::TileExtents task(const Candidate& chosen) const {
    const Index width = std::min(chosen.width, order());
    return {m, width, width};
  }
  double flops() const { return flops_of_multiply_add(type) * multiply_adds(); }
  void write(const detail::Machine& machine, const Candidate& chosen, Graph& graph) const {
    const Outline A(graph, m, n, chosen.tile, chosen.width, type);
    std::vector<starpu_data_handle_t> pivots;
    for (Index k = 0; k * chosen.width < order(); k++)
      pivots.push_back(as_handle(graph.add_temporary(static_cast<double>(chosen.width) * sizeof(int))));
    Rehearse sink(graph, false);
    algorithms::PanelOps<Rehearse> to(machine, sink, chosen.gpus, A, {pivots, A.nb()});
    to.request(sink);
    algorithms::getrf(to, nullptr);
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
      const double order = static_cast<double>(count(k)), size = static_cast<double>(size_of(type));
      graph.add_temporary(order * size), graph.add_temporary(2 * order * order * size);
    }
  }

  Index panels() const noexcept { return detail::divide_up(all_, panel_); }
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
struct Qr : OfRectangle {
  detail::TileExtents task(const Candidate& chosen) const {
    const Index width = std::min(chosen.width, order());
    return {m, width, width};
  }
  double flops() const { return 2 * flops_of_multiply_add(type) * multiply_adds(); }
  void write(const detail::Machine& machine, const Candidate& chosen, Graph& graph) const {
    const Outline A(graph, m, n, m, chosen.width, type);
    ReflectorOutline reflectors(graph, order(), A.nb(), type);
    Rehearse sink(graph, false);
    algorithms::QrOps<Rehearse, ReflectorOutline> to(machine, sink, chosen.gpus, A, reflectors);
    to.request();
    algorithms::geqrf(to, false);
  }
};

/// B ← op(A) B or B ← op(A)⁻¹ B with a triangular A. With A on the right, B is seen as its transpose.
struct Triangular {
  using Candidate = plan::Candidate;
  char type;  ///< of the elements: s, d, c or z
  Side side;
  bool inverse;
  Index of_triangle, of_columns;  ///< the order of A, and the other dimension of B

  Index order() const { return of_triangle; }
  Index columns() const { return of_columns; }
  detail::TileExtents task(const Candidate& chosen) const {
    const auto task = task_of(chosen, order(), columns());
    return side == Side::Left ? task : detail::TileExtents{task.n, task.m, task.k};
  }
  double flops() const {
    return flops_of_multiply_add(type) / 2 * static_cast<double>(order()) * static_cast<double>(order()) *
           static_cast<double>(columns());
  }
  void write(const detail::Machine& machine, const Candidate& chosen, Graph& graph) const {
    if (chosen.panels.exist()) return write_panels(machine, chosen, graph);
    const bool left = side == Side::Left;
    const Outline A(graph, order(), order(), chosen.tile, chosen.tile, type, true);
    const Outline B(graph, left ? order() : columns(), left ? columns() : order(), left ? chosen.tile : chosen.width,
                    left ? chosen.width : chosen.tile, type);
    detail::Plan cut;
    cut.grid = columns_grid(chosen.gpus, detail::divide_up(columns(), chosen.width));
    const algorithms::Sweep sweep(machine, cut, side, Uplo::Lower, left ? Op::NoTrans : Op::Trans, Diag::NonUnit, A, B);
    Rehearse sink(graph, false);
    tile::Ops<Rehearse> to(machine, sink, type);
    if (inverse) algorithms::trsm(to, sweep, 1);
    else algorithms::trmm(to, sweep, 1);
  }
  /// Rough time of a candidate in tiles [s]. It only decides which candidates are rehearsed first.
  double estimate(const Machine& model, const Candidate& chosen, bool has_copies) const {
    const auto& gpu = model.gpus.front();
    const auto n = static_cast<double>(order()), wide = static_cast<double>(columns());
    const double tile = std::min(static_cast<double>(chosen.tile), n),
                 width = std::min(static_cast<double>(chosen.width), wide), rows = std::ceil(n / tile),
                 across = std::ceil(wide / width), used = chosen.gpus;
    const auto task = [&](const char* operation, double part) {
      const double flops = model.flops_per_multiply_add * part * tile * width * tile;
      return gpu.task_seconds(operation, {flops}, model.element_size);
    };
    const double sharers = std::max(1.0, std::floor(used / across));  // GPUs that share a tile column
    const double column = rows * (rows - 1) / 2 * task("gemm", 1) / sharers +
                          rows * (task(inverse ? "trsm" : "trmm", 0.5) + 2 * model.runtime.push);
    const double compute = std::ceil(across / used) * column;
    if (!has_copies) return compute;
    const double copies = model.element_size * n * (n / 2 + wide) / used / gpu.in_rate;
    const double ends = model.element_size * tile * (tile + 2 * width) / gpu.in_rate;
    return std::max(compute, copies) + std::min(compute, copies) / 4 + ends;
  }
  void write_panels(const detail::Machine& machine, const Candidate& chosen, Graph& graph) const {
    const Outline A(graph, order(), order(), order(), chosen.tile, type, true);
    const Outline B(graph, order(), columns(), order(), chosen.width, type);
    const Index gpus = columns_grid(chosen.gpus, detail::divide_up(columns(), chosen.width)).size(),
                owners = machine.has_owners() ? gpus : 0;
    const tile::PanelView of_a(A, owners, Uplo::Lower), of_b(B, owners);
    Rehearse sink(graph, owners > 0);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::triangular_panels(to, inverse, Uplo::Lower, Diag::NonUnit, tile::is_blocked(machine, A.tile_n(0)), 1,
                                  of_a, of_b, chosen.panels.ahead, gpus);
  }
  static detail::OwnerGrid columns_grid(int gpus, Index tile_columns) {
    const int across = static_cast<int>(std::clamp<Index>(tile_columns, 1, gpus));
    return {gpus / across, across};
  }
};

}  // namespace tessera::plan
