// SPDX-License-Identifier: BSD-3-Clause
#include "panels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

#include "gpu_costs.hpp"
#include "split.hpp"
#include "triangle_owners.hpp"

namespace tessera::detail {

namespace {

/// The width of narrow panels, which occupy only part of a GPU. They are used for results with so few columns that
/// there would be fewer than four wider panels.
constexpr Index narrow = 256;
constexpr std::array<Index, 4> widths{narrow, 512, 1024, 2048};
constexpr std::array<Index, 3> chunks{512, 1024, 2048};

/// Whether a sum over k is long enough for chunks of this length.
bool enough_terms(Index k, Index chunk) { return 2 * chunk <= k || (chunk <= k && k <= 2 * chunks.front()); }

/// The maximum height of a panel: longer columns are not copied faster, and a very tall C should have several tiles.
constexpr Index tallest_panel = 16384;

/// The minimum height of a panel. Shorter panels, whose columns are short, have not been measured.
constexpr Index lowest_panel = 1024;

/// The ratio of height to width up to which kernels are fast. Twice this ratio is acceptable if copies take twice as
/// long as arithmetic.
constexpr Index narrowest_panel = 16;

/// The number of panels that each GPU starts while A arrives.
constexpr Index panels_ahead = 4;

/// The minimum number of panels of C. If there are fewer, the GPUs compute too little while panels arrive.
constexpr Index fewest_panels = 4;

/// Whether a result with this number of columns can be cut into panels of this width.
bool is_cut(Index columns, Index width) {
  return divide_up(columns, width) >= fewest_panels && (width > narrow || columns <= fewest_panels * narrow);
}

/// The delay that a byte leaving the GPU causes to bytes that arrive at the same time, in bytes.
constexpr double interference = 0.08;

/// The fraction of the time in which the GPU computes while A arrives, or the fraction of the first panels that it
/// completes in that time. It is below 1 because the panels must wait for the first chunks.
constexpr double computed_meanwhile = 0.75;

/// The maximum ratio of computation to copies. If arithmetic is the bottleneck, large square tiles are better: they are
/// fewer, and their kernels are faster.
constexpr double most_arithmetic = 1.1, most_arithmetic_of_slow_kernels = most_arithmetic / 2;

struct Prediction {
  double seconds;
  double arithmetic;  ///< time of the computation, relative to that of the copies
};

/// The prediction for panels that are unsuitable.
constexpr Prediction unsuitable{0, std::numeric_limits<double>::infinity()};

/// Panels need measured rates of columns, because these are the reason to use panels, and GPUs with about equal loads.
/// On more than two GPUs, tiles are faster, because each panel of A would have to be passed on between the GPUs.
bool possible(const MachineModel& machine) {
  return machine.has_owners() && machine.gpus_alike && machine.gpus <= 2 && !machine.rates.column.empty();
}

/// Whether columns are aligned on a GPU, where the leading dimension of a panel is its height. Kernels may be slower if
/// they are not.
bool aligned(const MachineModel& machine, Index rows) {
  return static_cast<Index>(machine.element_size) * rows % 16 == 0;
}

/// The panels of C with the shortest predicted time, for panels `rows` high.
/// @param inputs   bytes of A and B on each GPU, as a function of the number of columns of C that the GPU owns. An
///                 upper bound if GPUs own rows, of which there are then more than twice as many as columns
/// @param predict  a function of the tile, which may set its `panels`
template <typename Inputs, typename Predict>
std::optional<ChosenTiles> best_of(const MachineModel& machine, Index m, Index rows, Index n, Index k, Inputs inputs,
                                   Predict predict) {
  std::optional<ChosenTiles> best;
  if (!possible(machine) || rows < lowest_panel || !aligned(machine, rows)) return best;
  for (const Index width : widths)
    for (const Index chunk : chunks) {
      ChosenTiles tile;
      tile.m = rows, tile.n = width, tile.k = chunk;
      const double largest = std::max(machine.bytes(rows, chunk), machine.bytes(rows, width));
      if (2 * narrowest_panel * width < rows || largest > largest_tile_bytes || !is_cut(n, width) ||
          !enough_terms(k, chunk))
        continue;
      const Index own = std::min(n, divide_up(divide_up(n, width), machine.gpus) * width);
      if (machine.gpu_memory > 0 && inputs(own) + 2 * machine.bytes(m, own) > machine.gpu_memory) continue;
      const Prediction predicted = predict(tile);
      tile.seconds = predicted.seconds;
      const double most = narrowest_panel * width < rows ? most_arithmetic_of_slow_kernels : most_arithmetic;
      if (predicted.arithmetic < most && (!best || tile.seconds < best->seconds)) best = tile;
    }
  if (best) {
    std::ostringstream reason;
    reason << "shortest predicted time: " << divide_up(n, best->n) << " panels of " << best->m << "x" << best->n
           << " for " << machine.gpus << " GPU" << (machine.gpus > 1 ? "s" : "") << ", inputs in chunks of " << best->k
           << " columns";
    best->reason = reason.str();
  }
  return best;
}

/// The number of chunks of k in a tile of B: all of them, unless the tile would be taller than copies need.
Index chunks_in_a_tile(Index k, const ChosenTiles& tile) {
  return std::min(divide_up(k, tile.k), std::max<Index>(1, tallest_panel / tile.k));
}
Index height_of_b(Index k, const ChosenTiles& tile) { return std::min(k, tile.panels.terms * tile.k); }

Prediction predict(const MachineModel& machine, Index m, Index n, Index k, const ChosenTiles& tile) {
  const double rows = min(tile.m, m), columns = min(tile.n, n), depth = min(tile.k, k);
  const Index mt = divide_up(m, tile.m), nt = divide_up(n, tile.n), kt = divide_up(k, tile.k);
  const double task = task_seconds(machine, machine.flops_per_multiply_add * rows * columns * depth);
  const double sum = static_cast<double>(kt) * task;
  const bool by_rows = tile.panels.by_rows;
  const Index own_rows = by_rows ? divide_up(mt, machine.gpus) : mt,
              own_columns = by_rows ? nt : divide_up(nt, machine.gpus);
  const double compute = static_cast<double>(own_rows * own_columns) * sum;
  const double a = machine.bytes(m, k) / machine.gpus, b = machine.bytes(k, n) / machine.gpus,
               c = machine.bytes(m, n) / machine.gpus;
  const double busy = busy_part(machine, compute, a + b + c);
  const double cost = copy_cost(machine, rows, busy),
               cost_of_b = copy_cost(machine, static_cast<double>(height_of_b(k, tile)), busy);
  const double in = (a + c + interference * c) * cost + b * cost_of_b;
  const auto ahead = static_cast<double>(std::min(panels_ahead, own_columns));
  const double begin =
      machine.bytes(tile.m, k) / (by_rows ? 1 : machine.gpus) * cost + ahead * machine.bytes(k, tile.n) * cost_of_b;
  const double rest = compute - computed_meanwhile * std::min(begin, ahead * sum);
  const double end = 2 * task + machine.bytes(tile.m, tile.n) * cost;
  return {std::max(in, begin + rest) + end, (begin + rest) / in};
}

/// Predicts a product that uses each chunk of its inputs for all of C while the next chunk arrives. C arrives after the
/// last chunk, and no part of it leaves earlier, because no sum is complete before the last chunk.
/// @param task    average time to add one chunk to a panel of C [s]
/// @param inputs  elements in a column of all inputs
/// @param rows    average number of rows copied per column of C
Prediction predict_chunks(const MachineModel& machine, const ChosenTiles& tile, double task, Index inputs, Index n,
                          Index k, double rows) {
  const Index nt = divide_up(n, tile.n), kt = divide_up(k, tile.k);
  const double chunk = static_cast<double>(divide_up(nt, machine.gpus)) * task,
               compute = static_cast<double>(kt) * chunk;
  const double all = machine.bytes(inputs, k) / machine.gpus,
               c = machine.element_size * rows * static_cast<double>(n) / machine.gpus;
  const double cost =
      copy_cost(machine, static_cast<double>(std::min(tile.m, n)), busy_part(machine, compute, all + c));
  const double in = (all + (1 + interference) * c) * cost;
  const double computed = std::max(all * cost + chunk, machine.bytes(inputs, tile.k) * cost + compute);
  const double end = task + machine.element_size * rows * static_cast<double>(tile.n) * cost;
  return {std::max(in, computed - chunk + c * cost) + end, computed / in};
}

/// Predicts A Bᵀ.
Prediction predict_transposed(const MachineModel& machine, Index m, Index n, Index k, const ChosenTiles& tile) {
  const double rows = min(tile.m, m), columns = min(tile.n, n), depth = min(tile.k, k);
  const double task = task_seconds(machine, machine.flops_per_multiply_add * rows * columns * depth);
  return predict_chunks(machine, tile, task, m + n, n, k, rows);
}

/// Predicts syrk and syr2k.
Prediction predict_update(const MachineModel& machine, Index n, Index k, int products, const ChosenTiles& tile) {
  const double columns = min(tile.n, n), depth = min(tile.k, k), rows = (static_cast<double>(n) + columns) / 2;
  const double task = task_seconds(machine, products * machine.flops_per_multiply_add * rows * columns * depth);
  return predict_chunks(machine, tile, task, products * n, n, k, rows);
}

/// If the result or an input is a triangle, panels are used only in double precision, where measurements showed a gain.
bool double_precision(const MachineModel& machine) {
  const bool is_complex = machine.flops_per_multiply_add == flops_per_multiply_add<std::complex<double>>;
  return machine.element_size == (is_complex ? sizeof(std::complex<double>) : sizeof(double));
}

/// The maximum width of panels if the result or an input is a triangle.
constexpr Index widest_with_triangle = 1024;

/// The time of each step in addition to its task [s], for trmm and symm, and for trsm, which runs more kernels.
constexpr double step_overhead = 40e-6, step_overhead_of_trsm = 60e-6;

/// The time per row by which trsm exceeds trmm [s], because it waits for the inverses of diagonal blocks.
constexpr double inversion = 0.2e-6;

/// symm, trmm and trsm, with a stored triangle of A on the left.
struct WithTriangle {
  Index order, columns;
  bool symmetric, inverse;

  /// The number of panels that arrive for each panel of the result. trmm and trsm have only one matrix besides A.
  double inputs() const { return symmetric ? 2 : 1; }

  /// The time of all steps for one panel of the result [s].
  double of_panel(const MachineModel& machine, const ChosenTiles& tile) const {
    const double width = min(tile.n, columns), depth = min(tile.k, order);
    double seconds = 0;
    for (Index first = 0; first < order; first += tile.k) {
      const double others = std::max(0.0, static_cast<double>(order - first) - depth);
      const double rows = symmetric ? depth + 2 * others : depth / 2 + others;
      seconds += task_seconds(machine, machine.flops_per_multiply_add * depth * width * rows) +
                 (inverse ? step_overhead_of_trsm : step_overhead);
    }
    return seconds;
  }
};

/// Predicts the time if all of A arrives together with the first panels. If the links are the bottleneck, only the last
/// panel is computed after the last copy; otherwise the GPU computes continuously after the start. Sets the number of
/// panels that start while A arrives.
/// @return  whether panels may be faster than tiles
bool predict_with_triangle(const MachineModel& machine, const WithTriangle& call, ChosenTiles& tile) {
  const auto n = static_cast<double>(call.order);
  const Index panels = divide_up(divide_up(call.columns, tile.n), machine.gpus);
  const double panel = call.of_panel(machine, tile), compute = static_cast<double>(panels) * panel;
  const TriangleOwners owners(Uplo::Lower, call.order, tile.k, machine.gpus);
  const double a = owners.largest_share() * machine.element_size,
               b = machine.bytes(call.order, call.columns) / machine.gpus, inputs = a + call.inputs() * b;
  const double cost = copy_cost(machine, n, busy_part(machine, compute, inputs)),
               one_panel = machine.bytes(call.order, tile.n) * cost;
  const Index ahead = std::clamp<Index>(static_cast<Index>(std::ceil(a * cost / panel)), 2, panels);
  const double begin = a * cost + static_cast<double>(ahead) * call.inputs() * one_panel;
  const double in = (inputs + interference * b) * cost;
  const double rest = compute - computed_meanwhile * std::min(begin, static_cast<double>(ahead) * panel);
  tile.panels = {.terms = 1, .columns = 1, .ahead = ahead};
  tile.seconds = std::max(in + panel, begin + rest) + one_panel + (call.inverse ? inversion * n : 0);
  return !call.symmetric || compute < most_arithmetic * in;
}

std::optional<ChosenTiles> choose_with_triangle(const MachineModel& machine, const WithTriangle& call) {
  std::optional<ChosenTiles> best;
  const auto& [order, columns, symmetric, inverse] = call;
  if (!possible(machine) || !double_precision(machine) || !aligned(machine, order)) return best;
  if (order < lowest_panel || order > tallest_panel) return best;
  for (const Index width : widths)
    for (const Index chunk : chunks) {
      const Index panels = divide_up(columns, width), own = divide_up(panels, machine.gpus) * width;
      const double largest = machine.bytes(order, std::max(width, chunk));
      const double all = machine.bytes(order, order) + call.inputs() * machine.bytes(order, own);
      const bool fits = largest <= largest_tile_bytes && (machine.gpu_memory <= 0 || all <= machine.gpu_memory);
      if (!fits || width > widest_with_triangle || !enough_terms(order, chunk) || !is_cut(columns, width) ||
          (width == narrow && (inverse || narrowest_panel * width < order)))
        continue;
      ChosenTiles tile;
      tile.m = order, tile.n = width, tile.k = chunk;
      if (predict_with_triangle(machine, call, tile) && (!best || tile.seconds < best->seconds)) best = tile;
    }
  if (best) {
    std::ostringstream reason;
    reason << "shortest predicted time: " << divide_up(columns, best->n) << " panels of " << order << "x" << best->n
           << " for " << machine.gpus << " GPU" << (machine.gpus > 1 ? "s" : "") << ", the triangle in panels of "
           << best->k << " columns, " << best->panels.ahead << " panels begun while it arrives";
    best->reason = reason.str();
  }
  return best;
}

}  // namespace

std::optional<ChosenTiles> choose_triangular_panels(const MachineModel& machine, bool inverse, Index order,
                                                    Index columns) {
  return choose_with_triangle(machine, {order, columns, false, inverse});
}

std::optional<ChosenTiles> choose_symmetric_panels(const MachineModel& machine, Index order, Index columns) {
  return choose_with_triangle(machine, {order, columns, true, false});
}

ChosenTiles faster(const MachineModel& machine, const ChosenTiles& tiles, const std::optional<ChosenTiles>& panels,
                   double least_advantage) {
  if (panels && machine.compared != nullptr) machine.compared->push_back(*panels);
  return panels && panels->seconds < least_advantage * tiles.seconds ? *panels : tiles;
}

std::optional<ChosenTiles> choose_panels(const MachineModel& machine, Index m, Index n, Index k) {
  if (!aligned(machine, k)) return {};  // k is the height of a tile of B
  const Index tall = divide_up(m, tallest_panel);
  const bool by_rows = machine.gpus > 1 && tall > 1 && m > 2 * n;
  const Index parts = by_rows ? divide_up(tall, machine.gpus) * machine.gpus : tall,
              rows = parts == 1 ? m : divide_up(divide_up(m, parts), 64) * 64;
  const auto inputs = [&](Index columns) { return machine.bytes(m, k) + machine.bytes(k, columns); };
  auto best = best_of(machine, m, rows, n, k, inputs, [&](ChosenTiles& tile) {
    tile.panels = {.terms = chunks_in_a_tile(k, tile), .columns = 1, .ahead = panels_ahead, .by_rows = by_rows};
    const bool too_tall = machine.bytes(height_of_b(k, tile), tile.n) > largest_tile_bytes;
    const bool too_narrow = tile.n == narrow && machine.gpus > 1;
    return too_tall || too_narrow ? unsuitable : predict(machine, m, n, k, tile);
  });
  return best;
}

/// All panels of C use the same tile of the second factor, and grow together.
static Panels shared_by_all(Index panels) { return {.terms = 1, .columns = panels, .ahead = panels}; }

std::optional<ChosenTiles> choose_panels_transposed(const MachineModel& machine, Index m, Index n, Index k) {
  if (std::max(m, n) > tallest_panel || n < lowest_panel || !aligned(machine, n)) return {};
  const auto inputs = [&](Index /*columns*/) { return machine.bytes(m + n, k); };
  auto best = best_of(machine, m, m, n, k, inputs, [&](const ChosenTiles& tile) {
    const bool too_tall = machine.bytes(n, tile.k) > largest_tile_bytes;
    return too_tall || tile.n == narrow ? unsuitable : predict_transposed(machine, m, n, k, tile);
  });
  if (best) best->panels = shared_by_all(divide_up(n, best->n));
  return best;
}

std::optional<ChosenTiles> choose_update_panels(const MachineModel& machine, Index n, Index k, TriangleOf what) {
  if (n > tallest_panel || !double_precision(machine)) return {};
  const int count = products(what);
  const auto inputs = [&](Index /*columns*/) { return count * machine.bytes(n, k); };
  // Narrow panels leave more copies for the end. Longer chunks were slower.
  const bool wide = divide_up(n, widest_with_triangle) >= fewest_panels * machine.gpus;
  const Index widest = wide ? widest_with_triangle : widest_with_triangle / 2;
  auto best = best_of(machine, n, n, n, k, inputs, [&](const ChosenTiles& tile) {
    const bool considered = tile.n == widest && tile.k <= widest_with_triangle;
    return considered ? predict_update(machine, n, k, count, tile) : unsuitable;
  });
  if (best) best->panels = shared_by_all(divide_up(n, best->n));
  return best;
}

}  // namespace tessera::detail
