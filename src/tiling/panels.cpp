// SPDX-License-Identifier: BSD-3-Clause
#include "panels.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "gpu_costs.hpp"
#include "split.hpp"

namespace tessera::detail {

namespace {

/// Narrower panels occupy only a part of a GPU: on an H200, sgemm of n = 4096 took 3 % longer with a width of 256.
constexpr std::array<Index, 3> widths{512, 1024, 2048};
constexpr std::array<Index, 3> chunks{512, 1024, 2048};

/// Longer columns are not copied faster, and C should have several tiles if it is so tall.
constexpr Index tallest_panel = 16384;

/// Lower panels were not measured. Their columns are not long.
constexpr Index lowest_panel = 1024;

/// The ratio of height to width up to which kernels are fast. An H200 multiplied panels of 8192×512 at 52 TFLOP/s; with
/// panels of 8192×256, a call of n = 8192 took 3 to 12 % longer.
constexpr Index narrowest_panel = 16;

/// Panels that each GPU begins while A arrives. On an H200 at n = 2048 to 8192, 2, 4 and 8 made no difference of more
/// than 1 %.
constexpr Index panels_ahead = 4;

/// The fewest panels of C on each GPU: with fewer, too little is computed while they arrive. More GPUs also wait for
/// each other's parts of A.
Index fewest_panels(int gpus) { return std::max(4, 2 * gpus); }

/// What a byte that leaves the GPU costs those that arrive meanwhile, in bytes: an H200 copies 55 GB/s in either
/// direction, and 102 in both together.
constexpr double interference = 0.08;

/// The part of the first panels that is computed while A arrives, or of that time in which the GPU computes. The panels
/// wait for the first chunks.
constexpr double computed_meanwhile = 0.75;

/// How much longer than the copies the computation may take. Where arithmetic is the limit, large square tiles are
/// better: their kernels are faster, and they are fewer. On an H200 at n = 16384, panels took 178 to 187 ms, tiles 175.
constexpr double most_arithmetic = 1.1;

struct Prediction {
  double seconds;
  bool bound_by_links;
};

/// Panels need measured rates of columns, which are their reason, and GPUs that each load about the same. With more
/// than two GPUs, each panel of A would have to travel on between them, and in simulations of four, tiles are faster.
bool possible(const MachineModel& machine) {
  return machine.has_owners() && machine.gpus_alike && machine.gpus <= 2 && !machine.rates.column.empty();
}

/// The leading dimension of a panel on a GPU is its height. Kernels may be slower where columns are not aligned.
bool aligned(const MachineModel& machine, Index rows) {
  return static_cast<Index>(machine.element_size) * rows % 16 == 0;
}

/// The panels of C, `rows` high, with the shortest predicted time.
/// @param inputs   bytes of A and B on each GPU, as a function of the columns of C that it owns
/// @param predict  a function of the tile
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
      if (chunk >= k || narrowest_panel * width < rows || largest > largest_tile_bytes ||
          divide_up(n, width) < fewest_panels(machine.gpus) * machine.gpus)
        continue;
      const Index own = std::min(n, divide_up(divide_up(n, width), machine.gpus) * width);
      if (machine.gpu_memory > 0 && inputs(own) + 2 * machine.bytes(m, own) > machine.gpu_memory) continue;
      const Prediction predicted = predict(tile);
      tile.seconds = predicted.seconds;
      if (predicted.bound_by_links && (!best || tile.seconds < best->seconds)) best = tile;
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

Prediction predict(const MachineModel& machine, Index m, Index n, Index k, const ChosenTiles& tile) {
  const double rows = min(tile.m, m), columns = min(tile.n, n), depth = min(tile.k, k);
  const Index mt = divide_up(m, tile.m), nt = divide_up(n, tile.n), kt = divide_up(k, tile.k);
  const double task = task_seconds(machine, machine.flops_per_multiply_add * rows * columns * depth);
  const double sum = static_cast<double>(kt) * task;
  const double compute = static_cast<double>(mt * divide_up(nt, machine.gpus)) * sum;
  const double a = machine.bytes(m, k) / machine.gpus, b = machine.bytes(k, n) / machine.gpus,
               c = machine.bytes(m, n) / machine.gpus;
  const double busy = busy_part(machine, compute, a + b + c);
  const double cost = copy_cost(machine, rows, busy), cost_of_b = copy_cost(machine, static_cast<double>(k), busy);
  const double in = (a + c + interference * c) * cost + b * cost_of_b;
  const auto ahead = static_cast<double>(panels_ahead);
  const double begin = machine.bytes(tile.m, k) / machine.gpus * cost + ahead * machine.bytes(k, tile.n) * cost_of_b;
  const double rest = compute - computed_meanwhile * std::min(begin, ahead * sum);
  const double end = 2 * task + machine.bytes(tile.m, tile.n) * cost;
  return {std::max(in, begin + rest) + end, begin + rest < most_arithmetic * in};
}

/// The same for a transposed B. Each chunk of A and B is used while the next arrives. C arrives after the last chunk,
/// and leaves when the sums are complete, which they are not before the last chunk has been used for them.
Prediction predict_transposed(const MachineModel& machine, Index m, Index n, Index k, const ChosenTiles& tile) {
  const Index nt = divide_up(n, tile.n), kt = divide_up(k, tile.k);
  const double rows = min(tile.m, m), columns = min(tile.n, n), depth = min(tile.k, k);
  const double task = task_seconds(machine, machine.flops_per_multiply_add * rows * columns * depth);
  const double chunk = static_cast<double>(divide_up(nt, machine.gpus)) * task,
               compute = static_cast<double>(kt) * chunk;
  const double inputs = machine.bytes(m + n, k) / machine.gpus, c = machine.bytes(m, n) / machine.gpus;
  const double cost = copy_cost(machine, static_cast<double>(std::min(m, n)), busy_part(machine, compute, inputs + c));
  const double in = (inputs + (1 + interference) * c) * cost;
  const double computed = std::max(inputs * cost + chunk, machine.bytes(m + n, tile.k) * cost + compute);
  const double end = task + machine.bytes(tile.m, tile.n) * cost;
  return {std::max(in, computed - chunk + c * cost) + end, computed < most_arithmetic * in};
}

}  // namespace

std::optional<ChosenTiles> choose_panels(const MachineModel& machine, Index m, Index n, Index k) {
  if (!aligned(machine, k)) return {};  // the height of a tile of B
  const Index parts = divide_up(m, tallest_panel), rows = parts == 1 ? m : divide_up(divide_up(m, parts), 64) * 64;
  const auto inputs = [&](Index columns) { return machine.bytes(m, k) + machine.bytes(k, columns); };
  auto best = best_of(machine, m, rows, n, k, inputs, [&](const ChosenTiles& tile) {
    const bool too_tall = machine.bytes(k, tile.n) > largest_tile_bytes;
    return too_tall ? Prediction{0, false} : predict(machine, m, n, k, tile);
  });
  if (best) best->panels = {.terms = divide_up(k, best->k), .columns = 1, .ahead = panels_ahead};
  return best;
}

std::optional<ChosenTiles> choose_panels_transposed(const MachineModel& machine, Index m, Index n, Index k) {
  if (std::max(m, n) > tallest_panel || n < lowest_panel || !aligned(machine, n)) return {};
  const auto inputs = [&](Index /*columns*/) { return machine.bytes(m + n, k); };
  auto best = best_of(machine, m, m, n, k, inputs, [&](const ChosenTiles& tile) {
    const bool too_tall = machine.bytes(n, tile.k) > largest_tile_bytes;
    return too_tall ? Prediction{0, false} : predict_transposed(machine, m, n, k, tile);
  });
  if (best) {
    const Index count = divide_up(n, best->n);
    best->panels = {.terms = 1, .columns = count, .ahead = count};
  }
  return best;
}

}  // namespace tessera::detail
