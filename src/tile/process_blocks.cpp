// SPDX-License-Identifier: BSD-3-Clause
#include "process_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dealt_columns.hpp"
#include "split.hpp"

namespace tessera::tile {

namespace {

/// The fraction of a GPU's memory that a block of C may fill.
constexpr double most_for_result = 0.75;
/// The fraction of a process's free memory that copies of other processes' tiles may fill.
constexpr double most_for_copies = 0.5;
/// The look-ahead in chunks, if all of C is one block, and if it is not.
constexpr Index ahead_of_whole = 1, ahead_of_blocks = 2;
/// The minimum look-ahead in terms of the sum. It is at least the number of rows and of columns of processes, so that
/// the terms that may be sent are spread over all processes.
constexpr Index least_terms_ahead = 3;

double limit(double bytes) { return bytes > 0 ? bytes : std::numeric_limits<double>::infinity(); }

Index whole_tiles(double count, Index most) {
  return count >= static_cast<double>(most) ? most : std::max<Index>(1, static_cast<Index>(count));
}

/// The largest divisor of `terms` that is at most `most`. If it is less than half of `most`, the size of about equal
/// parts.
Index chunk_of(Index terms, Index most) {
  Index divisor = most;
  while (terms % divisor != 0) divisor--;
  return 2 * divisor >= most ? divisor : divide_up(terms, divide_up(terms, most));
}

/// The size of about equal parts that are at most `most`; rounded up to a multiple of `unit` unless that exceeds
/// `most`.
Index even_part(Index whole, Index most, Index unit) {
  const Index even = divide_up(whole, divide_up(whole, most)), rounded = divide_up(even, unit) * unit;
  return rounded <= most ? rounded : even;
}

double bytes(Index tiles, double each) { return static_cast<double>(tiles) * each; }

std::vector<DealtColumns::Part> parts(int gpus, Index rows, Index columns) {
  const DealtColumns dealt(gpus, rows, columns);
  std::vector<DealtColumns::Part> all;
  for (int gpu = 0; gpu < gpus; gpu++) all.push_back(dealt.part(gpu));
  return all;
}

/// The bytes that a GPU reads for one term.
double bytes_of_term(const DealtColumns::Part& part, const TiledProduct& product) {
  return bytes(part.rows, product.a) + bytes(part.columns, product.b);
}

/// The number of (process, block) pairs with a given number of rows, or columns, of tiles.
struct Extent {
  Index tiles;
  double pairs;
};
using Extents = std::vector<Extent>;

/// The extents of blocks with `block` tiles per process.
Extents extents(Index whole, Index processes, Index block) {
  const Index most = block * processes, full = whole / most, last = whole % most, more = last % processes;
  return {{block, static_cast<double>(full * processes)},
          {last / processes + 1, static_cast<double>(more)},
          {last / processes, static_cast<double>(last > 0 ? processes - more : 0)}};
}

/// The numbers of tiles that GPUs read.
struct Inputs {
  double a = 0, b = 0;
};

/// The inputs that all GPUs of all processes read for a term, for blocks of these extents.
Inputs inputs_of_term(int gpus, const Extents& rows, const Extents& columns) {
  Inputs all;
  for (const auto& x : rows)
    for (const auto& y : columns) {
      if (x.tiles == 0 || y.tiles == 0) continue;
      for (const auto& part : parts(gpus, x.tiles, y.tiles)) {
        all.a += x.pairs * y.pairs * static_cast<double>(part.rows);
        all.b += x.pairs * y.pairs * static_cast<double>(part.columns);
      }
    }
  return all;
}

/// Which of the paper's cases (a, b or c) applies to each GPU's part of a block.
char memory_case(double memory, int gpus, const ProcessModel& processes, const TiledProduct& product,
                 const ProcessBlocks& blocks) {
  const double rows_of_a = bytes(product.mt * product.kt, product.a) / processes.p,
               columns_of_b = bytes(product.kt * product.nt, product.b) / processes.q;
  char memory_case = 'a';
  for (const auto& part : parts(gpus, blocks.rows, blocks.columns)) {
    const double result = bytes(part.tiles, product.c);
    const double share_of_a = static_cast<double>(part.rows) / static_cast<double>(blocks.rows),
                 share_of_b = static_cast<double>(part.columns) / static_cast<double>(blocks.columns);
    if (share_of_a * rows_of_a + share_of_b * columns_of_b + result <= memory) continue;
    memory_case = 'b';
    if (bytes(part.rows * blocks.chunk, product.a) + bytes(part.columns * product.kt, product.b) + result > memory)
      return 'c';
  }
  return memory_case;
}

/// The bytes of A and B that a GPU loads according to the paper's model.
double even_inputs(double memory, double gpus, const ProcessModel& processes, const TiledProduct& product,
                   const ProcessBlocks& blocks) {
  const double rows_of_a = bytes(product.mt * product.kt, product.a) / processes.p,
               columns_of_b = bytes(product.kt * product.nt, product.b) / (processes.q * gpus);
  const double block = bytes(blocks.rows * blocks.columns, product.c) / gpus;
  if (rows_of_a + columns_of_b + block <= memory) return rows_of_a + columns_of_b;
  const double chunk_of_a = bytes(blocks.rows * blocks.chunk, product.a),
               columns_of_block = bytes(blocks.columns * product.kt, product.b) / gpus;
  const bool columns_stay = chunk_of_a + columns_of_block + block <= memory;
  return static_cast<double>(blocks.across) * rows_of_a +
         static_cast<double>(columns_stay ? 1 : blocks.down) * columns_of_b;
}

}  // namespace

double memory_for_copies(const ProcessModel& processes, double matrices) {
  return most_for_copies * std::max(0.0, limit(processes.host_memory) - matrices);
}

ProcessBlocks choose_process_blocks(const ProcessModel& processes, const TiledProduct& product,
                                    const WantedBlocks& wanted) {
  const Index gpus = std::max(processes.gpus, 1);
  const double memory = limit(processes.gpus > 0 ? processes.gpu_memory : 0);
  const Index rows = std::max<Index>(1, divide_up(product.mt, processes.p)),
              columns = std::max<Index>(1, divide_up(product.nt, processes.q)), terms = std::max<Index>(1, product.kt);
  const double room = std::floor(most_for_result * memory / product.c) * static_cast<double>(gpus);  // in tiles of C

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
  constexpr Index most_ahead = Index{1} << 40;  // more than there are chunks, and can be added to
  blocks.ahead = wanted.ahead > 0 ? std::min(wanted.ahead, most_ahead)
                 : blocks.whole   ? ahead_of_whole
                                  : ahead_of_blocks;

  const auto b = static_cast<double>(blocks.rows), c = static_cast<double>(blocks.columns);
  double on_gpu = limit(0);
  for (const auto& part : parts(static_cast<int>(gpus), blocks.rows, blocks.columns))
    if (part.tiles > 0)
      on_gpu = std::min(on_gpu, (memory - bytes(part.tiles, product.c)) / bytes_of_term(part, product));
  const double matrices = (bytes(product.mt * product.kt, product.a) + bytes(product.kt * product.nt, product.b) +
                           bytes(product.mt * product.nt, product.c)) /
                          (processes.p * processes.q);
  const double for_copies = memory_for_copies(processes, matrices);
  // Bytes of a term that come from other processes, for this number of rows and columns of tiles of C.
  const auto copies = [&](double of_rows, double of_columns) {
    return of_rows * (1 - 1.0 / processes.q) * product.a + of_columns * (1 - 1.0 / processes.p) * product.b;
  };
  const bool all_fit =
      static_cast<double>(terms) * copies(static_cast<double>(rows), static_cast<double>(columns)) <= for_copies;
  blocks.holds_back = wanted.holds_back.value_or(!all_fit || wanted.chunk > 0 || wanted.ahead > 0);
  // The number of terms whose copies fit a process: those of the current chunk, and of the look-ahead.
  const double copied = for_copies / std::max(copies(b, c), 1.0),
               on_host = blocks.holds_back ? copied / static_cast<double>(blocks.ahead + 1) : limit(0);
  blocks.chunk = wanted.chunk > 0 ? std::min(wanted.chunk, terms)
                                  : chunk_of(terms, whole_tiles(std::max(0.0, std::min(on_gpu, on_host)), terms));
  blocks.chunks = divide_up(terms, blocks.chunk);
  if (wanted.ahead == 0) {
    const auto least = std::max<Index>({least_terms_ahead, processes.p, processes.q});
    blocks.ahead =
        std::max(blocks.ahead, std::min(divide_up(least, blocks.chunk), whole_tiles(copied, terms) / blocks.chunk - 1));
  }
  return blocks;
}

ProcessLoads predicted_loads(const ProcessModel& processes, const TiledProduct& product, const ProcessBlocks& blocks) {
  const int gpus = std::max(processes.gpus, 1);
  const double p = processes.p, q = processes.q, all_gpus = p * q * gpus;
  const double memory = limit(processes.gpus > 0 ? processes.gpu_memory : 0);
  // The fraction of the tiles of A, and of B, that a process receives from others.
  const double from_row = 1 - 1 / q, from_column = 1 - 1 / p;
  ProcessLoads loads;
  const auto times = [](bool returns, Index blocks_of_c) { return returns ? static_cast<double>(blocks_of_c) : 1; };
  loads.received = times(blocks.a_returns(), blocks.across) * bytes(product.mt * product.kt, product.a) / p * from_row +
                   times(blocks.b_returns(), blocks.down) * bytes(product.kt * product.nt, product.b) / q * from_column;
  loads.memory_case = memory_case(memory, gpus, processes, product, blocks);
  loads.even_inputs = even_inputs(memory, gpus, processes, product, blocks);
  loads.result = bytes(product.mt * product.nt, product.c) / all_gpus;

  const auto of_first = [](Index whole, Index share, Index block) {
    return extents(std::min(whole, share * block), share, block);
  };
  const auto rows = extents(product.mt, processes.p, blocks.rows),
             columns = extents(product.nt, processes.q, blocks.columns);
  auto read = inputs_of_term(gpus, rows, columns);
  // A tile that stays on a GPU is read once for all blocks, unless the process receives it again.
  if (loads.memory_case == 'a') {
    const double once = inputs_of_term(gpus, rows, of_first(product.nt, processes.q, blocks.columns)).a;
    read.a = once + (blocks.a_returns() ? from_row : 0) * (read.a - once);
  }
  if (loads.memory_case != 'c') {
    const double once = inputs_of_term(gpus, of_first(product.mt, processes.p, blocks.rows), columns).b;
    read.b = once + (blocks.b_returns() ? from_column : 0) * (read.b - once);
  }
  loads.inputs = static_cast<double>(product.kt) * (read.a * product.a + read.b * product.b) / all_gpus;
  return loads;
}

}  // namespace tessera::tile
