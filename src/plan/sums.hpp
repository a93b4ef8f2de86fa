// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>

#include "algorithms/plan.hpp"
#include "algorithms/products.hpp"
#include "algorithms/sum.hpp"
#include "algorithms/symmetric_panels.hpp"
#include "calls.hpp"
#include "common/of_type.hpp"
#include "graph.hpp"
#include "machine/machine.hpp"
#include "plans.hpp"
#include "rehearse.hpp"

/// The calls whose result is a sum of products, as far as they can be rehearsed.
namespace tessera::plan {

using algorithms::Plan;
using tile::TileExtents;

/// C ← α op(A) op(B) + β C, a triangle of that or of an update, or a product with a symmetric matrix.
struct Sums {
  char type;
  SumOf what;
  Index m, n, k;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  bool reads_result = true;  ///< whether C is read, because β ≠ 0
  bool far = false;

  friend auto operator<=>(const Sums&, const Sums&) = default;
  bool is_triangle() const { return what == SumOf::Triangle || is_update(); }
  bool is_update() const { return what == SumOf::RankK || what == SumOf::Rank2k; }
  bool is_symmetric() const { return what == SumOf::SymmetricLeft || what == SumOf::SymmetricRight; }

  double beta() const { return reads_result ? 0.5 : 0; }  ///< any number stands for all but 0
  double flops() const {
    const double parts = what == SumOf::Rank2k || !is_triangle() ? 1 : 0.5;
    return parts * common::flops_of_multiply_add(type) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
  /// Bytes of all operands.
  double bytes() const {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), terms = static_cast<double>(k);
    return static_cast<double>(common::size_of(type)) * (rows * columns + (rows + columns) * terms);
  }
  bool loads_first(const machine::Machine& machine, const Plan& plan) const {
    return plan::loads_first(machine, plan, bytes());
  }
  TileExtents task(const Plan& plan) const {
    return {std::min(plan.tile.m, m), std::min(plan.tile.n, n), std::min(plan.tile.k, k)};
  }

  void write(const machine::Machine& machine, const Plan& plan, Graph& graph) const {
    if (is_symmetric() && plan.panels.exist()) return write_panels(machine, plan, graph);
    const auto& tile = plan.tile;
    const auto rows = plan.rows(m), columns = plan.columns(n);
    const tile::Edges terms(k, tile.k, plan.at_the_edges);
    const Outline C(graph, rows, columns, type, is_triangle());
    const auto region = is_triangle() ? tile::Region::triangle(Uplo::Lower, C.mt(), C.nt(), C.mb(), C.nb())
                                      : tile::Region(tile::Part::All);
    const bool loads = loads_first(machine, plan);
    const Index last = is_triangle() ? plan.rows_for_cores.count : 0;
    const auto owners =
        machine.has_owners() ? tile::Owners(plan.grid, C.mt() - last, C.nt() - last, region) : tile::Owners();
    const algorithms::Sum sum(machine, plan, {C, region, owners, false}, {1, 1}, beta(), false, false);
    Rehearse sink(graph, loads);
    tile::Ops<Rehearse> to(machine, sink, type);
    const auto stored = [&](Op op, const tile::Edges& down, const tile::Edges& across) {
      return op == Op::NoTrans ? Outline(graph, down, across, type) : Outline(graph, across, down, type);
    };
    using algorithms::accumulate;
    if (is_symmetric()) {
      const bool left = what == SumOf::SymmetricLeft;
      const Outline S(graph, k, k, tile.k, tile.k, type, true), X(graph, rows, columns, type);
      accumulate(
          to, sum,
          algorithms::SymmetricProduct{1, left ? Side::Left : Side::Right, {S, Uplo::Lower, false}, {X, Op::NoTrans}});
    } else if (is_update()) {
      const auto A = stored(op_a, rows, terms), B = what == SumOf::Rank2k ? stored(op_a, rows, terms) : A;
      accumulate(to, sum, algorithms::RankUpdate{1, what == SumOf::Rank2k, false, {A, op_a}, {B, op_a}, region.across});
    } else {
      const Index across = plan.panels.columns;
      const auto A = stored(op_a, rows, terms), B = stored(op_b, {k, plan.panels.terms * tile.k, plan.at_the_edges},
                                                           across == 1 ? columns : tile::Edges(n, across * tile.n));
      accumulate(to, sum, algorithms::Product{1, {A, op_a}, {B, op_b}, plan.panels, tile});
    }
  }

  ForCores for_cores(const Plan& plan) const {
    const bool rows = is_triangle() || what == SumOf::SymmetricRight;
    return {!is_triangle() || plan.tile.m == plan.tile.n,
            rows,
            is_triangle() || !rows,
            rows ? m : n,
            rows ? plan.tile.m : plan.tile.n,
            is_triangle() ? 1
            : rows        ? plan.grid.p
                          : plan.grid.q,
            is_triangle() ? 2.0 : 1.0};
  }

  /// The arithmetic of the busiest worker overlaps with the copies. The first tiles and the last one do not. Each input
  /// counts once, although out of core, A and B are copied for each block of C.
  double estimate(const Machine& model, const Plan& plan, bool copies) const {
    const auto of = [](Index x) { return static_cast<double>(x); };
    const auto [rows, columns, depth] = task(plan);
    const Index across = tile::divide_up(n, columns), down = tile::divide_up(m, rows);
    const double products = what == SumOf::Rank2k ? 2 : 1, flops = model.flops(task(plan));
    const bool on_gpus = plan.gpus > 0;
    const auto& device = on_gpus ? model.gpus.front() : model.core;
    const double one = device.product_seconds(flops);
    const double speed =  // in workers like the first
        on_gpus ? one * model.products_per_second(plan.gpus, flops) : model.cpu_workers;
    const auto busiest = [&](Index whole, Index part, int workers) {  // tiles of one of them; the last may be smaller
      const Index count = tile::divide_up(whole, part);
      const double last = of(whole - (count - 1) * part) / of(part), most = std::ceil(of(count) / workers);
      return (count - 1) % workers == 0 ? most - 1 + last : most;
    };
    const double chunks = of(k) / of(depth) / of(plan.sums);
    const double tiles = is_triangle() ? of(down * across) / 2 : of(down * across);
    const double share = !on_gpus || is_triangle() || plan.gpus < plan.grid.size()
                             ? std::ceil(tiles * of(plan.sums) / speed)
                             : std::max(tiles / speed, busiest(m, rows, plan.grid.p) *
                                                           busiest(n, columns, plan.grid.q) * plan.gpus / speed);
    const double compute = share * chunks * products * (one + (on_gpus ? 0 : model.runtime.push));
    if (!on_gpus || !copies) return compute;
    const double used = plan.gpus, a_rows = op_a == Op::NoTrans ? of(rows) : of(depth),
                 b_rows =
                     op_b == Op::NoTrans ? of(depth) * of(plan.panels.terms) : of(columns) * of(plan.panels.columns);
    const double busy = std::min(1.0, compute * used * device.in_rate / bytes());
    const double all_rows = far ? std::numeric_limits<double>::infinity() : of(std::max({m, n, k}));
    const auto seconds = [&](double elements, double height) {
      return device.copy_seconds(elements, height, all_rows, model.element_size, busy) * model.crowding(plan.gpus);
    };
    const bool from_host = plan.gpus > 1 && (model.peer(0, 1).rate == 0 || model.peer(0, 1).bus);
    const double of_a = (from_host ? of(plan.grid.q) : 1) * of(m) * of(k),
                 of_b = is_update() ? (products - 1) * of_a : (from_host ? of(plan.grid.p) : 1) * of(k) * of(n),
                 of_c = tiles * of(rows) * of(columns);
    const double all =
        (seconds(of_a, a_rows) + seconds(of_b, b_rows) + (reads_result ? seconds(of_c, of(rows)) : 0)) / used;
    const double first = (is_update() ? products : 1) * seconds(of(rows) * of(depth), a_rows) +
                         (is_update() ? 0 : seconds(of(depth) * of(columns), b_rows)),
                 last = plan.panels.columns > 1 ? seconds(of_c, of(rows)) / used  // all of C leaves at the end
                                                : seconds(of(rows) * of(columns), of(rows));
    return std::max(compute, all) + std::min(compute, all) / 4 + first + last;
  }

 private:
  void write_panels(const machine::Machine& machine, const algorithms::Plan& plan, Graph& graph) const {
    const Outline A(graph, k, k, k, plan.tile.k, type, true), B(graph, m, n, m, plan.tile.n, type),
        C(graph, m, n, m, plan.tile.n, type);
    const Index gpus = plan.grid.size(), owners = machine.has_owners() ? gpus : 0;
    const tile::PanelView of_a(A, owners, Uplo::Lower), of_b(B, owners), of_c(C, owners);
    Rehearse sink(graph, owners > 0);
    tile::Ops<Rehearse> to(machine, sink, type);
    algorithms::symmetric_panels(to, false, Uplo::Lower, 1, of_a, of_b, beta(), of_c, plan.panels.ahead, gpus);
  }
};

}  // namespace tessera::plan
