// SPDX-License-Identifier: BSD-3-Clause
#include "process_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "split.hpp"

namespace tessera::detail {

namespace {

/// The part of a GPU's memory that a block of C may fill.
constexpr double most_for_result = 0.75;
/// The part of a process's free memory that copies of tiles of other processes may fill.
constexpr double most_for_copies = 0.5;
/// Look-ahead if all of C is one block, and if it is not.
constexpr Index ahead_of_whole = 1, ahead_of_blocks = 2;

double limit(double bytes) { return bytes > 0 ? bytes : std::numeric_limits<double>::infinity(); }

Index whole_tiles(double count, Index most) {
  return count >= static_cast<double>(most) ? most : std::max<Index>(1, static_cast<Index>(count));
}

/// The largest divisor of `terms` up to `most`; if that is less than half of it, parts that are about equal.
Index chunk_of(Index terms, Index most) {
  Index divisor = most;
  while (terms % divisor != 0) divisor--;
  return 2 * divisor >= most ? divisor : divide_up(terms, divide_up(terms, most));
}

/// Parts of about the same size, none larger than `most`; a multiple of `unit` if that is not larger.
Index even_part(Index whole, Index most, Index unit) {
  const Index even = divide_up(whole, divide_up(whole, most)), rounded = divide_up(even, unit) * unit;
  return rounded <= most ? rounded : even;
}

}  // namespace

ProcessBlocks choose_process_blocks(const ProcessModel& processes, const TiledProduct& product,
                                    const WantedBlocks& wanted) {
  const Index gpus = std::max(processes.gpus, 1);
  const double memory = limit(processes.gpus > 0 ? processes.gpu_memory : 0);
  const Index rows = std::max<Index>(1, divide_up(product.mt, processes.p)),
              columns = std::max<Index>(1, divide_up(product.nt, processes.q)), terms = std::max<Index>(1, product.kt);
  const double room = most_for_result * memory * static_cast<double>(gpus) / product.c;  // tiles of C

  ProcessBlocks blocks{.rows = rows, .columns = columns};
  if (static_cast<double>(rows) * static_cast<double>(columns) > room) {
    Index b = whole_tiles(std::sqrt(room), rows), c = whole_tiles(std::sqrt(room), columns);
    if (b == rows) c = whole_tiles(room / static_cast<double>(b), columns);
    else if (c == columns) b = whole_tiles(room / static_cast<double>(c), rows);
    blocks.rows = even_part(rows, b, 1), blocks.columns = even_part(columns, c, gpus);
  }
  if (wanted.rows > 0) blocks.rows = std::min(wanted.rows, rows);
  if (wanted.columns > 0) blocks.columns = std::min(wanted.columns, columns);
  blocks.down = divide_up(rows, blocks.rows), blocks.across = divide_up(columns, blocks.columns);
  blocks.whole = blocks.down * blocks.across == 1;
  blocks.ahead = wanted.ahead > 0 ? wanted.ahead : blocks.whole ? ahead_of_whole : ahead_of_blocks;

  const auto b = static_cast<double>(blocks.rows), c = static_cast<double>(blocks.columns);
  const auto g = static_cast<double>(gpus);
  const double on_gpu = (memory - b * c / g * product.c) / (b * product.a + c / g * product.b);
  const double matrices = (static_cast<double>(product.mt * product.kt) * product.a +
                           static_cast<double>(product.kt * product.nt) * product.b +
                           static_cast<double>(product.mt * product.nt) * product.c) /
                          (processes.p * processes.q);
  const double foreign = b * (1 - 1.0 / processes.q) * product.a + c * (1 - 1.0 / processes.p) * product.b;
  const double on_host = most_for_copies * std::max(0.0, limit(processes.host_memory) - matrices) /
                         (static_cast<double>(blocks.ahead + 1) * std::max(foreign, 1.0));
  blocks.chunk = wanted.chunk > 0 ? std::min(wanted.chunk, terms)
                                  : chunk_of(terms, whole_tiles(std::max(0.0, std::min(on_gpu, on_host)), terms));
  blocks.chunks = divide_up(terms, blocks.chunk);
  return blocks;
}

ProcessLoads predicted_loads(const ProcessModel& processes, const TiledProduct& product, const ProcessBlocks& blocks) {
  const auto count = [](Index x) { return static_cast<double>(x); };
  const double p = processes.p, q = processes.q, g = std::max(processes.gpus, 1);
  const double memory = limit(processes.gpus > 0 ? processes.gpu_memory : 0);
  const double X = count(blocks.down), Y = count(blocks.across);
  // Bytes of a process's rows of A, of a GPU's columns of B and of its part of C.
  const double rows_of_a = count(product.mt * product.kt) / p * product.a,
               columns_of_b = count(product.kt * product.nt) / (q * g) * product.b,
               part_of_c = count(product.mt * product.nt) / (p * q * g) * product.c;
  ProcessLoads loads;
  loads.received = Y * rows_of_a * (1 - 1 / q) + X * columns_of_b * g * (1 - 1 / p);
  loads.result = part_of_c;
  const double block = count(blocks.rows * blocks.columns) / g * product.c;
  const double chunk_of_a = count(blocks.rows * blocks.chunk) * product.a;
  const double columns = count(blocks.columns * product.kt) / g * product.b;
  if (rows_of_a + columns_of_b + block <= memory) {
    loads.memory_case = 'a';
    loads.inputs = rows_of_a + columns_of_b;
  } else if (chunk_of_a + columns + block <= memory) {
    loads.memory_case = 'b';
    loads.inputs = Y * rows_of_a + columns_of_b;
  } else {
    loads.memory_case = 'c';
    loads.inputs = Y * rows_of_a + X * columns_of_b;
  }
  return loads;
}

}  // namespace tessera::detail
