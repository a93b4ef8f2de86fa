// SPDX-License-Identifier: BSD-3-Clause
#include "candidates.hpp"

#include <algorithm>
#include <array>

#include "choose.hpp"
#include "devices/panels_on_cores.hpp"
#include "plans.hpp"
#include "tuning.hpp"

namespace tessera::plan {

namespace {

using algorithms::Panels;
using tile::divide_up;

constexpr std::array<Index, 5> on_gpus{4096, 2048, 1024, 512, 256};
constexpr Index most_elements = Index{1} << 31;  // in a tile, because StarPU multiplies sizes in 32 bits

/// The numbers of GPUs to compare. With tiles that the user asks for, all GPUs take part.
std::vector<int> numbers_of_gpus(const machine::Machine& machine) {
  constexpr int most = 32;  // see Rehearsal
  const int all = std::min(machine.gpu_count(), most);
  if (all == 0 || machine.tile > 0) return {all};
  std::vector<int> numbers;
  for (int gpus = 1; gpus <= all; gpus++) numbers.push_back(gpus);
  return numbers;
}

/// Whether half the tile size would also cover the whole extent.
bool too_large(Index tile, Index extent) { return tile > on_gpus.back() && tile / 2 >= extent; }

/// The sizes to compare for the tiles of a dimension, from large to small. CPU workers read host memory in place, so
/// their tiles are as large as possible while every worker gets some.
/// @param gpus  among which the tiles of this dimension are dealt out
std::vector<Index> sizes(const machine::Machine& machine, Index whole, Index workers, Index gpus = 1) {
  if (machine.tile > 0) return {machine.tile};
  std::vector<Index> all;
  if (machine.gpu_count() > 0) {
    for (const Index tile : on_gpus) {
      if (!too_large(tile, whole) && !std::ranges::count(all, tile)) all.push_back(tile);
      const Index count = divide_up(whole, tile), even = even_extent(whole, tile, gpus),
                  of_even = divide_up(divide_up(whole, even), gpus) * gpus;
      const bool better = static_cast<double>(of_even) > clear_gain * static_cast<double>(count);
      if (better && even >= on_gpus.back() && !std::ranges::count(all, even)) all.push_back(even);
    }
    std::ranges::sort(all, std::greater<>());
    return all;
  }
  constexpr Index grain = 16, largest = Index{1} << 30;  // kernels are faster on whole vectors; a BLAS takes an int
  std::vector<Index> pieces{1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  for (Index each = 1; each <= 8; each++) pieces.push_back(each * workers);
  for (const Index count : pieces) all.push_back(std::min(divide_up(divide_up(whole, count), grain) * grain, largest));
  std::ranges::sort(all, std::greater<>());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Whether a task has room for its tiles on a GPU, and for those that the GPU fetches meanwhile.
bool fits(const Machine& model, const machine::Machine& machine, TileExtents tile) {
  constexpr double sets = 4;
  if (machine.tile > 0) return true;
  if (std::max({tile.m * tile.n, tile.m * tile.k, tile.k * tile.n}) >= most_elements) return false;
  if (model.memory <= 0 || machine.gpu_count() == 0) return true;
  return sets * (model.bytes(tile.m, tile.n) + model.bytes(tile.m, tile.k) + model.bytes(tile.k, tile.n)) <=
         model.memory;
}

/// The order of square tiles where none of the sizes to compare fits: of a GPU's memory, two tasks on three tiles each
/// take all.
Index with_room(const Machine& model, const machine::Machine& machine, Index tile) {
  constexpr double tiles = 6;
  if (machine.tile > 0 || machine.gpu_count() == 0 || model.memory <= 0) return tile;
  while (tile > 1 && tiles * model.bytes(tile, tile) > model.memory) tile /= 2;
  return tile;
}

/// The maximum height of one of several panels: longer columns are not copied faster. The minimum: copies of shorter
/// ones are slow.
constexpr Index tallest_panel = 16384, lowest_panel = 1024;

/// The number of panels that each GPU starts while A arrives, and the minimum number of panels: with fewer, the GPUs
/// compute too little while panels arrive.
constexpr Index panels_ahead = 4, fewest_panels = 4;
constexpr std::array<Index, 3> chunks{512, 1024, 2048};
constexpr Index widest_panel = 1024;  ///< of a result; GPUs compute products of this width at their full rate

/// The widths to compare for panels of a result: the largest that leaves each GPU enough of them, and the next one.
std::vector<Index> widths_of_result(Index columns, int gpus) {
  constexpr Index narrowest = 256;
  Index width = widest_panel;
  while (width > narrowest && divide_up(columns, width) < fewest_panels * gpus) width /= 2;
  if (divide_up(columns, width) < fewest_panels) return {};
  return width > narrowest ? std::vector{width, width / 2} : std::vector{width};
}

/// Whether panels with columns of this height are candidates. They are worthwhile if copies of long columns are faster.
/// GPUs are faster if columns are aligned, and all must have about equal loads.
/// @param triangle  whether the result or an input is a triangle; the steps of these panels are slow in single
/// precision
bool may_be_in_panels(const Machine& model, const machine::Machine& machine, char type, Index rows, bool triangle) {
  constexpr Index alignment = 16;  // bytes
  return machine.tile == 0 && machine.has_owners() && machine.gpus_alike && !model.gpus.front().in.computing.empty() &&
         (!triangle || type == 'd' || type == 'z') && rows >= lowest_panel &&
         static_cast<Index>(model.element_size) * rows % alignment == 0;
}

/// Plans in square tiles.
template <typename Call>
std::vector<Plan> in_squares(const Machine& model, const machine::Machine& machine, const Call& call) {
  std::vector<Plan> plans;
  const Index longest = std::max(call.m, call.n);
  for (const int gpus : numbers_of_gpus(machine))
    for (const Index tile : sizes(machine, call.order(), machine.cpu_workers)) {
      const bool alone = tile >= longest && gpus > 1;  // one GPU has all the work
      if (!alone && fits(model, machine, {tile, tile, tile}))
        plans.push_back(plan_tiles(machine, tile, gpus, call.bytes()));
    }
  if (plans.empty())
    plans.push_back(plan_tiles(machine, with_room(model, machine, sizes(machine, call.order(), 1).back()),
                               numbers_of_gpus(machine).back(), call.bytes()));
  return plans;
}

/// Whether a GPU has room for the panels that a step needs, and StarPU can count their elements.
bool panel_fits(const Machine& model, Index rows, Index width) {
  constexpr double panels = 4;  // the updated panel, the panel that updates it, and the next panels of both kinds
  return (model.memory <= 0 || panels * model.bytes(rows, width) <= model.memory) && rows <= most_elements / width;
}

/// Plans in panels, in narrower ones than asked for if none of those fits.
/// @param widths  from large to small
/// @param height  (width): rows of a tile
template <typename Call, typename Height>
std::vector<Plan> in_panels(const Machine& model, const machine::Machine& machine, const Call& call,
                            std::vector<Index> widths, Height height) {
  while (machine.tile == 0 && widths.back() > 1 && !panel_fits(model, call.m, widths.back()))
    widths.push_back(widths.back() / 2);
  std::vector<Plan> plans;
  for (const int gpus : numbers_of_gpus(machine))
    for (const Index width : widths) {
      const bool fits =
          panel_fits(model, call.m, width) || machine.tile > 0 || (plans.empty() && width == widths.back());
      if (fits) plans.push_back(plan_panels(machine, call.type, call.m, call.n, {height(width), width, width}, gpus));
    }
  return plans;
}

/// Removes panels that cores, which factorize them while GPUs update others, could not factorize in half of the time
/// that the GPUs need for the updates: n² w / 2 beside 2 n³ / 3 flops.
void keep_up(std::vector<Index>& widths, const Machine& model, const machine::Machine& machine, Index order) {
  if (machine.gpu_count() == 0 || machine.tile > 0) return;
  const double rate =
      machine.has_cuda() ? device::gpu::panel_rate_of_cores() : model.core.kernels.at("gemm").best_rate();
  if (rate <= 0) return;
  double updates = 0;
  for (const auto& gpu : model.gpus) updates += gpu.kernels.at("gemm").best_rate();
  const double widest = 2.0 / 3 * static_cast<double>(order) * rate / updates;
  std::erase_if(widths, [&](Index width) { return width > on_gpus.back() && static_cast<double>(width) > widest; });
}

std::vector<Index> widths_of_panels(const machine::Machine& machine, Index order) {
  if (machine.gpu_count() > 0) return sizes(machine, order, 0);
  return machine.tile > 0 ? std::vector{machine.tile} : std::vector<Index>{128, 64, 32};  // one core factorizes a panel
}

/// Whether a sum over k is long enough for chunks of this length.
bool enough_terms(Index k, Index chunk) { return 2 * chunk <= k || (chunk <= k && k <= 2 * chunks.front()); }

/// Panels for a triangular or symmetric matrix on the left of one with `columns` columns, or on the right of its
/// transpose. If the result is one panel, one GPU computes it, and A passes through that GPU's link in long columns.
/// @param one_panel  whether the result must be one panel; otherwise it may be
/// @param matrices   number of matrices that are as large as the result
std::vector<Plan> beside_triangle(const Machine& model, const machine::Machine& machine, char type, Index order,
                                  Index columns, Side side, bool one_panel, Index matrices) {
  std::vector<Plan> plans;
  const auto add = [&](Index width, int gpus) {
    const Index all = divide_up(columns, width), own = divide_up(all, gpus);
    const double bytes = model.bytes(order, order) + static_cast<double>(matrices) * model.bytes(order, own * width);
    for (const Index chunk : {chunks[1], chunks[2]}) {
      const bool symmetric = matrices > 1;
      const double squares = symmetric ? model.bytes(order, chunk) : 0;  // see symmetric_panels
      if (!enough_terms(order, chunk) || (model.memory > 0 && bytes + squares > model.memory)) continue;
      const TileExtents tile{order, width, chunk};
      plans.push_back(plan_columns(machine, side == Side::Left ? tile : TileExtents{width, order, chunk}, gpus, gpus));
      plans.back().panels.ahead = std::min(panels_ahead, own);
    }
  };
  if (columns <= widest_panel && may_be_in_panels(model, machine, type, order, false)) add(columns, 1);
  if (one_panel || order > tallest_panel || !may_be_in_panels(model, machine, type, order, true)) return plans;
  for (const int gpus : numbers_of_gpus(machine))
    for (const Index width : widths_of_result(columns, gpus)) add(width, gpus);
  return plans;
}

/// Panels for a product with an A that is not transposed, or for an update.
std::vector<Plan> panels_of_sum(const Machine& model, const machine::Machine& machine, const Sums& call) {
  std::vector<Plan> plans;
  const bool shared = call.is_update() || call.op_b != Op::NoTrans;  // each chunk of the inputs is used for all of C
  if (call.op_a != Op::NoTrans || call.what == SumOf::Triangle || call.is_symmetric() ||
      !may_be_in_panels(model, machine, call.type, shared ? call.n : call.k, call.is_update()) ||
      (shared && std::max(call.m, call.n) > tallest_panel))
    return plans;
  for (const int gpus : numbers_of_gpus(machine)) {
    const Index tall = divide_up(call.m, tallest_panel);
    const bool by_rows = gpus > 1 && tall > 1 && call.m > 2 * call.n;
    const Index parts = by_rows ? divide_up(tall, gpus) * gpus : tall,
                rows = parts == 1 ? call.m : divide_up(divide_up(call.m, parts), 64) * 64;
    if (!may_be_in_panels(model, machine, call.type, rows, call.is_update())) continue;
    for (const Index width : widths_of_result(call.n, gpus))
      for (const Index chunk : chunks) {
        const Index panels = divide_up(call.n, width), terms = divide_up(call.k, chunk),
                    own = std::min(call.n, divide_up(panels, gpus) * width);
        const double bytes = model.bytes(call.m + (shared ? call.n : own), call.k) + 2 * model.bytes(call.m, own);
        if (!enough_terms(call.k, chunk) || (model.memory > 0 && bytes > model.memory)) continue;
        auto plan = plan_sums(machine, call.type, {rows, width, chunk}, 1, call.k, gpus);
        plan.panels = shared ? Panels{.terms = 1, .columns = panels, .ahead = panels}
                             : Panels{.terms = std::min(terms, std::max<Index>(1, tallest_panel / chunk)),
                                      .columns = 1,
                                      .ahead = panels_ahead,
                                      .by_rows = by_rows};
        plan.sums = 1, plan.block = {};
        plan.grid = by_rows ? tile::OwnerGrid{gpus, 1} : tile::OwnerGrid{1, gpus};
        plans.push_back(plan);
      }
  }
  return plans;
}

/// The lengths of a sum's chunks to compare, if tiles of C have so many rows and columns. On GPUs, they are at least as
/// long as tiles are high: with more chunks, each tile waits longer for its next task. On cores, a long sum is divided
/// if there are few tiles.
std::vector<Index> chunks_of(const Machine& model, const machine::Machine& machine, const Sums& call, Index rows,
                             Index columns) {
  const Index k = call.k;
  if (machine.tile > 0) return {machine.tile};
  if (call.is_symmetric()) return {call.what == SumOf::SymmetricLeft ? rows : columns};
  std::vector<Index> all;
  if (machine.gpu_count() > 0) {
    for (const Index chunk : on_gpus)
      if (!too_large(chunk, k) && (chunk >= std::min(rows, k) || chunk == on_gpus.front())) all.push_back(chunk);
    if (all.empty()) all.push_back(on_gpus.back());
    return all;
  }
  const Index longest = std::max<Index>(1, (most_elements - 1) / std::max(rows, columns)),
              tiles = divide_up(call.m, rows) * divide_up(call.n, columns);
  all.push_back(std::min(k, longest));
  constexpr Index long_sum = 16;  // several sums need memory, so otherwise the result is cut into more tiles
  if (const Index sums = k < long_sum * std::max(call.m, call.n) ? 1 : tile::sums_per_tile(model.cpu_workers, tiles, k);
      sums > 1)
    all.push_back(std::min(divide_up(k, sums), longest));
  return all;
}

/// Whether tiles of C may have so many rows and columns. Slim tiles have slow kernels. On GPUs, tiles are wider than
/// high only if B is stored transposed, because the stored columns of its tiles are as long as the tile is wide.
/// Neither matters if C has no more rows or columns than the smallest tiles.
bool is_shape(const machine::Machine& machine, const Sums& call, Index rows, Index columns) {
  if (machine.tile > 0) return rows == columns;
  constexpr Index slimmest = 4;
  if (machine.gpu_count() == 0) {
    constexpr Index most_of_worker = 8;  // tiles
    if ((rows > slimmest * columns && columns < call.n) || (columns > slimmest * rows && rows < call.m)) return false;
    const Index tiles = divide_up(call.m, rows) * divide_up(call.n, columns);
    return (!call.is_triangle() || rows == columns) && tiles <= 2 * most_of_worker * machine.cpu_workers;
  }
  const bool is_low = call.m <= on_gpus.back(), is_narrow = call.n <= on_gpus.back();
  if ((rows > slimmest * columns && !is_narrow) || (columns > slimmest * rows && !is_low)) return false;
  return columns <= rows || is_low || (!call.is_triangle() && call.op_b != Op::NoTrans) ||
         call.what == SumOf::SymmetricRight;
}

}  // namespace

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Cholesky& call) {
  return in_squares(model, machine, call);
}

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const LuNoPiv& call) {
  return in_squares(model, machine, call);
}

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Lu& call) {
  constexpr Index most_rows = 4096, least_rows = 1024;
  auto widths = widths_of_panels(machine, call.order());
  keep_up(widths, model, machine, call.order());
  const Index all = std::max<Index>(1, call.m);
  if (machine.gpu_count() == 0) return in_panels(model, machine, call, widths, [&](Index /*width*/) { return all; });
  // Rows of tiles on GPUs are written back together once the last row is final. Short columns are copied slowly.
  std::vector<Plan> plans;
  for (const Index below_one_another : {4, 2}) {
    const Index rows = std::max(std::clamp(call.m / below_one_another, least_rows, most_rows),
                                divide_up(call.m, tile::most_tiles_of_panel));
    for (auto& plan :
         in_panels(model, machine, call, widths, [&](Index width) { return divide_up(rows, width) * width; })) {
      if (!plan.load_first) plan.tile.m = all;  // out of core, all rows of a panel become final at the same time
      const auto same = [&](const Plan& other) {
        return other.tile.m == plan.tile.m && other.tile.n == plan.tile.n && other.gpus == plan.gpus;
      };
      if (std::ranges::none_of(plans, same)) plans.push_back(std::move(plan));
    }
  }
  return plans;
}

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Qr& call) {
  // For a matrix that is much taller than wide, copies are the bottleneck: panels leave while later ones arrive.
  constexpr Index panels = 8, warp = 32;
  auto widths = widths_of_panels(machine, call.order());
  if (algorithms::is_tall_for_qr(call.m, call.n) && machine.gpu_count() > 0 && machine.tile == 0)
    widths = {divide_up(divide_up(call.n, panels), warp) * warp};
  return in_panels(model, machine, call, widths, [&](Index /*width*/) { return std::max<Index>(1, call.m); });
}

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Triangular& call) {
  const bool left = call.side == Side::Left;
  auto plans = beside_triangle(model, machine, call.type, call.order(), call.columns(), call.side, call.one_panel, 1);
  const auto heights = sizes(machine, call.order(), 1);
  for (const int gpus : numbers_of_gpus(machine)) {
    const auto widths = sizes(machine, call.columns(), machine.cpu_workers, machine.gpus_alike ? gpus : 1);
    for (const Index tile : heights)
      for (const Index width : widths) {
        if (machine.tile > 0 && tile != width) continue;
        const bool cut = tile < call.order() && width < call.columns(), slim = 4 * width < tile || 4 * tile < width;
        const bool smallest = tile == heights.back() && width == widths.back() && plans.empty();
        if (!smallest && ((cut && slim && machine.gpu_count() > 0) || !fits(model, machine, {tile, width, tile})))
          continue;
        const auto extents = left ? TileExtents{tile, width, tile} : TileExtents{width, tile, tile};
        if (smallest && !fits(model, machine, extents)) {
          const Index order = with_room(model, machine, std::min(tile, width));
          plans.push_back(plan_columns(machine, {order, order, order}, divide_up(call.columns(), order), gpus));
          continue;
        }
        plans.push_back(plan_columns(machine, extents, divide_up(call.columns(), width), gpus));
        if (machine.gpus_alike || !machine.has_owners()) continue;
        const double flops = model.flops(call.task(plans.back()));
        for (int gpu = 0; gpu < gpus; gpu++)
          plans.back().speeds.push_back(1 / model.gpus[static_cast<std::size_t>(gpu)].product_seconds(flops));
      }
  }
  return plans;
}

std::vector<Plan> candidates(const Machine& model, const machine::Machine& machine, const Sums& call) {
  auto plans = call.what == SumOf::SymmetricLeft
                   ? beside_triangle(model, machine, call.type, call.k, call.n, Side::Left, false, 2)
                   : panels_of_sum(model, machine, call);
  for (auto& plan : plans) plan.k = call.k, plan.terms = divide_up(call.k, plan.tile.k);
  for (const int gpus : numbers_of_gpus(machine)) {
    const bool even = machine.gpus_alike && !call.is_triangle() && !call.is_symmetric();
    const auto grid = even ? tile::owner_grid(gpus) : tile::OwnerGrid();
    const auto rows = sizes(machine, call.m, machine.cpu_workers, grid.p),
               columns = sizes(machine, call.n, machine.cpu_workers, grid.q);
    const auto add = [&](TileExtents tile) {
      const Index mt = divide_up(call.m, tile.m), nt = divide_up(call.n, tile.n);
      const auto region = call.is_triangle() ? tile::Region::triangle(Uplo::Lower, mt, nt, tile.m, tile.n)
                                             : tile::Region(tile::Part::All);
      auto& plan = plans.emplace_back(plan_sums(machine, call.type, tile, region.tiles(mt, nt), call.k, gpus));
      if (call.what == SumOf::Product) plan.at_the_edges = edges_of_products(machine, gpus);
    };
    for (const Index m : rows)
      for (const Index n : columns)
        if (is_shape(machine, call, m, n))
          for (const Index k : chunks_of(model, machine, call, m, n)) {
            if (fits(model, machine, {m, n, k})) add({m, n, k});
          }
    const bool one_task = gpus == 1 && !machine.has_copies() && call.what == SumOf::Product && machine.tile == 0;
    if (one_task && fits(model, machine, {call.m, call.n, call.k})) add({call.m, call.n, call.k});
    const Index smallest = with_room(model, machine, rows.back());
    if (plans.empty()) add({smallest, smallest, smallest});
  }
  return plans;
}

}  // namespace tessera::plan
