// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "algorithms/products.hpp"
#include "algorithms/submit_sum.hpp"
#include "algorithms/symmetric_panels.hpp"
#include "common/of_type.hpp"
#include "graph.hpp"
#include "machine/machine.hpp"
#include "rehearse.hpp"
#include "tiling/plan.hpp"

/// The calls whose result is a sum of products, as far as they can be rehearsed.
namespace tessera::plan {

enum class SumOf { Product, Triangle, RankK, Rank2k, SymmetricLeft, SymmetricRight };

/// C ← α op(A) op(B) + β C, a triangle of that or of an update, or a product with a symmetric matrix.
struct Sums {
  using Candidate = detail::Plan;
  char type;  ///< letter of the elements: s, d, c or z
  SumOf what;
  Index m, n, k;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;

  bool is_triangle() const { return what == SumOf::Triangle || is_update(); }
  bool is_update() const { return what == SumOf::RankK || what == SumOf::Rank2k; }
  bool is_symmetric() const { return what == SumOf::SymmetricLeft || what == SumOf::SymmetricRight; }

  double flops() const {
    const double parts = what == SumOf::Rank2k || !is_triangle() ? 1 : 0.5;
    return parts * flops_of_multiply_add(type) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
  /// Bytes of all operands.
  double bytes() const {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), terms = static_cast<double>(k);
    return static_cast<double>(size_of(type)) * (rows * columns + (rows + columns) * terms);
  }
  detail::TileExtents task(const detail::Plan& plan) const {
    return {std::min(plan.tile.m, m), std::min(plan.tile.n, n), std::min(plan.tile.k, k)};
  }

  /// Writes the operations that a plan submits, except those on cores.
  void write(const detail::Machine& machine, detail::Plan plan, Graph& graph) const {
    plan.for_cores = 0;
    if (is_symmetric() && plan.panels.exist()) return write_panels(machine, plan, graph);
    const auto& tile = plan.tile;
    const Outline C(graph, m, n, tile.m, tile.n, type, is_triangle());
    const auto region = is_triangle() ? detail::Region::triangle(Uplo::Lower, C.mt(), C.nt(), C.mb(), C.nb())
                                      : detail::Region(detail::Part::All);
    const bool loads = plan.panels.exist() || algorithms::is_small(machine, plan, m, n, size_of(type));
    const algorithms::Sum sum(machine, plan, {C, region, {plan.grid, C.mt(), C.nt(), region}, false}, {1, 1}, 0.5,
                              false, false);
    Rehearse sink(graph, loads);
    tile::Ops<Rehearse> to(machine, sink, type);
    const auto stored = [&](Op op, Index rows, Index columns, Index height, Index width) {
      return op == Op::NoTrans ? Outline(graph, rows, columns, height, width, type)
                               : Outline(graph, columns, rows, width, height, type);
    };
    using algorithms::accumulate;
    if (is_symmetric()) {
      const bool left = what == SumOf::SymmetricLeft;
      const Outline S(graph, k, k, tile.k, tile.k, type, true), X(graph, m, n, tile.m, tile.n, type);
      accumulate(
          to, sum,
          algorithms::SymmetricProduct{1, left ? Side::Left : Side::Right, {S, Uplo::Lower, false}, {X, Op::NoTrans}});
    } else if (is_update()) {
      const auto A = stored(op_a, n, k, tile.m, tile.k);
      const auto B = what == SumOf::Rank2k ? stored(op_a, n, k, tile.m, tile.k) : A;
      accumulate(to, sum, algorithms::RankUpdate{1, what == SumOf::Rank2k, false, {A, op_a}, {B, op_a}, region.across});
    } else {
      const auto A = stored(op_a, m, k, tile.m, tile.k),
                 B = stored(op_b, k, n, plan.panels.terms * tile.k, plan.panels.columns * tile.n);
      accumulate(to, sum, algorithms::Product{1, {A, op_a}, {B, op_b}, plan.panels, tile});
    }
  }

 private:
  void write_panels(const detail::Machine& machine, const detail::Plan& plan, Graph& graph) const {
    const Outline A(graph, k, k, k, plan.tile.k, type, true), B(graph, m, n, m, plan.tile.n, type),
        C(graph, m, n, m, plan.tile.n, type);
    const Index gpus = plan.grid.size(), owners = machine.has_owners() ? gpus : 0;
    const tile::PanelView of_a(A, owners, Uplo::Lower), of_b(B, owners), of_c(C, owners);
    Rehearse sink(graph, owners > 0);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::symmetric_panels(to, false, Uplo::Lower, 1, of_a, of_b, 0.5, of_c, plan.panels.ahead, gpus);
  }
};

}  // namespace tessera::plan
