// SPDX-License-Identifier: BSD-3-Clause
// Blocks, chunks and predicted loads of products over many processes, compared with numbers worked out by hand. Memory
// is counted in tiles.
#include "tile/process_blocks.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tessera::test::process_blocks_cpp {
namespace {

using tile::choose_process_blocks;
using tile::predicted_loads;
using tile::ProcessModel;
using tile::TiledProduct;

constexpr TiledProduct product{24, 36, 30, 1, 1, 1};  // 12×12 tiles of C for each of 2×3 processes

ProcessModel with_gpu_memory(double tiles) {
  return {.p = 2, .q = 3, .gpus = 2, .gpu_memory = tiles, .host_memory = 0};
}

TEST(ProcessBlocks, TakeAllOfCIfItFits) {  // 72 tiles of C on each GPU are below three quarters of 100
  const auto processes = with_gpu_memory(100);
  const auto blocks = choose_process_blocks(processes, product);
  EXPECT_TRUE(blocks.whole);
  EXPECT_EQ(blocks.rows, 12);
  EXPECT_EQ(blocks.columns, 12);
  EXPECT_EQ(blocks.ahead, 3);
  EXPECT_EQ(blocks.chunk, 1);  // 28 tiles remain, and a term takes 12 + 6
  EXPECT_EQ(blocks.count(), 30);
  const auto loads = predicted_loads(processes, product, blocks);
  EXPECT_EQ(loads.received, 360 * 2 / 3 + 360 / 2);  // rows of A from two of three, columns of B from one of two
  EXPECT_EQ(loads.memory_case, 'c');
  EXPECT_EQ(loads.inputs, 360 + 180);
  EXPECT_EQ(loads.result, 72);
}

TEST(ProcessBlocks, LookThreeTermsAhead) {
  constexpr TiledProduct small{8, 8, 12, 1, 1, 1};  // 4×4 tiles of C for each process, and 4 + 4 tiles for each term
  const auto chosen = [&](double terms, Index ahead) {
    return choose_process_blocks({.p = 2, .q = 2, .gpus = 1, .gpu_memory = 16 + 8 * terms, .host_memory = 0}, small,
                                 {.ahead = ahead});
  };
  EXPECT_EQ(chosen(1.5, 0).chunk, 1);
  EXPECT_EQ(chosen(1.5, 0).ahead, 3);
  EXPECT_EQ(chosen(1.5, 1).ahead, 1);
  EXPECT_EQ(chosen(2.5, 0).chunk, 2);
  EXPECT_EQ(chosen(2.5, 0).ahead, 2);
  EXPECT_EQ(chosen(3.5, 0).ahead, 1);
}

TEST(ProcessBlocks,
     CutCIfItDoesNotFit) {  // 7×7 tiles fit; two even blocks in each direction, an even number for 2 GPUs
  const auto processes = with_gpu_memory(40);
  const auto blocks = choose_process_blocks(processes, product, {.holds_back = true});
  EXPECT_FALSE(blocks.whole);
  EXPECT_EQ(blocks.rows, 6);
  EXPECT_EQ(blocks.columns, 6);
  EXPECT_EQ(blocks.ahead, 2);
  EXPECT_EQ(blocks.chunk, 2);  // 22 tiles remain, and a term takes 6 + 3
  EXPECT_EQ(blocks.count(), 4 * 15);
  const auto loads = predicted_loads(processes, product, blocks);
  EXPECT_EQ(loads.received, 2 * (360 * 2 / 3 + 360 / 2));
  EXPECT_EQ(loads.memory_case, 'c');
  EXPECT_EQ(loads.inputs, 2 * (360 + 180));
  const auto early = choose_process_blocks(processes, product);
  EXPECT_FALSE(early.holds_back);
  EXPECT_EQ(predicted_loads(processes, product, early).received, 360 * 2 / 3 + 360 / 2);  // for both blocks
}

TEST(ProcessBlocks,
     HoldBackWhatDoesNotFit) {  // 444 tiles in use; copies of 8 columns of A and 6 rows of B for 30 terms
  ProcessModel processes{.p = 2, .q = 3, .gpus = 0, .gpu_memory = 0, .host_memory = 444 + 2 * 30 * (8 + 6)};
  EXPECT_FALSE(choose_process_blocks(processes, product).holds_back);
  EXPECT_EQ(choose_process_blocks(processes, product).chunk, 30);
  EXPECT_TRUE(choose_process_blocks(processes, product, {.ahead = 2}).holds_back);
  EXPECT_TRUE(choose_process_blocks(processes, product, {.chunk = 2}).holds_back);
  EXPECT_FALSE(choose_process_blocks(processes, product, {.chunk = 2, .holds_back = false}).holds_back);
  processes.host_memory--;
  EXPECT_TRUE(choose_process_blocks(processes, product).holds_back);
  EXPECT_FALSE(choose_process_blocks(processes, product, {.holds_back = false}).holds_back);
}

TEST(ProcessBlocks, LookAsFarAheadAsThereAreRowsOrColumnsOfProcesses) {
  ProcessModel processes{.p = 2, .q = 5, .gpus = 1, .gpu_memory = 26, .host_memory = 0};
  constexpr TiledProduct small{8, 20, 12, 1, 1, 1};  // 4×4 tiles of C for each process; a term takes 8
  EXPECT_EQ(choose_process_blocks(processes, small).chunk, 1);
  EXPECT_EQ(choose_process_blocks(processes, small).ahead, 5);
  std::swap(processes.p, processes.q);
  EXPECT_EQ(choose_process_blocks(processes, {20, 8, 12, 1, 1, 1}).ahead, 5);
}

TEST(ProcessBlocks, LoadEachTileOnceIfTheGpuHasMemoryForIt) {
  const auto all = with_gpu_memory(1000);
  const auto loads_of_all = predicted_loads(all, product, choose_process_blocks(all, product, {6, 6, 2, 1}));
  EXPECT_EQ(loads_of_all.memory_case, 'a');
  EXPECT_EQ(loads_of_all.even_inputs, 360 + 180);
  EXPECT_EQ(loads_of_all.inputs, 360 + 180 + 360 * 2 / 3 + 180 / 2);  // received tiles are loaded again
  const auto columns = with_gpu_memory(150);                          // 18 of C, 12 of A, 90 of B
  const auto loads_of_columns =
      predicted_loads(columns, product, choose_process_blocks(columns, product, {6, 6, 2, 1}));
  EXPECT_EQ(loads_of_columns.memory_case, 'b');
  EXPECT_EQ(loads_of_columns.even_inputs, 2 * 360 + 180);
  EXPECT_EQ(loads_of_columns.inputs, 2 * 360 + 180 + 180 / 2);
}

TEST(ProcessBlocks, CountWhatCutColumnsTake) {  // 4×4 tiles for 3 GPUs: 6 or 5 on each, in 4 rows and 2 columns
  const ProcessModel processes{.p = 2, .q = 2, .gpus = 3, .gpu_memory = 28, .host_memory = 0};
  constexpr TiledProduct few{8, 8, 8, 1, 1, 1};
  const auto blocks = choose_process_blocks(processes, few);
  EXPECT_TRUE(blocks.whole);
  EXPECT_EQ(blocks.chunk, 2);  // 22 tiles remain, and a term takes 4 + 2: 3 of 8 fit
  const auto loads = predicted_loads(processes, few, blocks);
  EXPECT_EQ(loads.memory_case, 'c');
  EXPECT_EQ(loads.inputs, 8 * (4 + 2));
  EXPECT_DOUBLE_EQ(loads.even_inputs, 8 * (4 + 4. / 3));
}

TEST(ProcessBlocks, CountBlocksThatAreNotFull) {  // 7 and 6 rows of tiles, and 4 columns for 2 GPUs
  const ProcessModel processes{.p = 2, .q = 1, .gpus = 2, .gpu_memory = 29, .host_memory = 0};
  constexpr TiledProduct ragged{13, 4, 10, 1, 1, 1};
  const auto blocks = choose_process_blocks(processes, ragged, {4, 3, 1, 1});  // 4 and 3 or 2 rows, 3 and 1 columns
  EXPECT_EQ(blocks.down, 2);
  EXPECT_EQ(blocks.across, 2);
  const auto loads = predicted_loads(processes, ragged, blocks);
  EXPECT_EQ(loads.memory_case, 'c');
  // In the block of 4×3, a GPU reads 4 rows and 2 columns; likewise with 3 and 2 rows. If there is a single column, the
  // GPUs have 2 and 2, 2 and 1, or 1 and 1 rows.
  const double rows = 2 * (8 + 4) + (6 + 3) + (4 + 2), columns = 2 * (4 + 2) + 2 * (4 + 2);
  EXPECT_DOUBLE_EQ(loads.inputs, 10 * (rows + columns) / 4);
}

TEST(ProcessBlocks, FillNoGpuWithMoreThanThreeQuarters) {  // 10 of 14 tiles
  const ProcessModel processes{.p = 1, .q = 1, .gpus = 3, .gpu_memory = 14, .host_memory = 0};
  EXPECT_TRUE(choose_process_blocks(processes, {5, 6, 4, 1, 1, 1}).whole);
  EXPECT_FALSE(choose_process_blocks(processes, {1, 31, 4, 1, 1, 1}).whole);  // a GPU would have 11
}

TEST(ProcessBlocks, LeaveMemoryOfTheHost) {  // 444 tiles in use; half of the rest for 2 × 14 per term
  ProcessModel processes{.p = 2, .q = 3, .gpus = 0, .gpu_memory = 0, .host_memory = 444 + 2 * 28 * 10};
  EXPECT_EQ(choose_process_blocks(processes, product).chunk, 10);
  processes.host_memory = 1;
  EXPECT_EQ(choose_process_blocks(processes, product).chunk, 1);
  processes.host_memory = 0;
  const auto unlimited = choose_process_blocks(processes, product);
  EXPECT_EQ(unlimited.chunk, 30);
  EXPECT_EQ(unlimited.count(), 1);
}

TEST(ProcessBlocks, CutAPrimeNumberOfTermsEvenly) {
  ProcessModel processes{.p = 1, .q = 2, .gpus = 1, .gpu_memory = 30, .host_memory = 0};
  // 4×4 tiles of C leave 14; a term takes 8, so 1 fits. With one row and column of tiles, 14 terms fit.
  EXPECT_EQ(choose_process_blocks(processes, {4, 8, 29, 1, 1, 1}).chunk, 1);
  EXPECT_EQ(choose_process_blocks(processes, {1, 2, 29, 1, 1, 1}).chunk, 10);  // 14 of 29 terms fit: 10, 10 and 9
  EXPECT_EQ(choose_process_blocks(processes, {1, 2, 28, 1, 1, 1}).chunk, 14);
}

TEST(ProcessBlocks, TakeWhatTheUserWants) {
  const auto blocks = choose_process_blocks(with_gpu_memory(100), product, {5, 100, 7, 3});
  EXPECT_EQ(blocks.rows, 5);
  EXPECT_EQ(blocks.columns, 12);
  EXPECT_EQ(blocks.chunk, 7);
  EXPECT_EQ(blocks.ahead, 3);
  EXPECT_EQ(blocks.down, 3);
  EXPECT_EQ(blocks.across, 1);
  EXPECT_EQ(blocks.chunks, 5);
  EXPECT_TRUE(blocks.a_returns());  // after 15 chunks
  EXPECT_TRUE(blocks.b_returns());  // after 5, the look-ahead is 3
}

}  // namespace
}  // namespace tessera::test::process_blocks_cpp
