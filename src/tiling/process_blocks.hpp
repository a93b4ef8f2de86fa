// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/types.hpp>

/// Blocks, chunks and look-ahead of a product over many processes: Hérault et al., "A Generic Matrix Multiplication for
/// Multi-GPU Accelerated Distributed-Memory Platforms over PaRSEC", 2019.
namespace tessera::detail {

/// The processes of a p×q grid, as far as the choice depends on them.
struct ProcessModel {
  int p = 1, q = 1;
  int gpus = 0;            ///< of each process; 0: the cores compute
  double gpu_memory = 0;   ///< bytes of each GPU for tiles; 0: no GPU, or no limit known
  double host_memory = 0;  ///< bytes that each process may take; 0: no limit known
};

/// A product in tiles: mt×kt times kt×nt.
struct TiledProduct {
  Index mt = 0, nt = 0, kt = 0;
  double a = 0, b = 0, c = 0;  ///< bytes of a tile of each matrix
};

/// What the user has asked for, in tiles; 0: chosen.
struct WantedBlocks {
  Index rows = 0, columns = 0, chunk = 0, ahead = 0;
};

/// How a product is cut. Blocks of C follow one another down the columns of blocks, and in each the chunks of the sum.
struct ProcessBlocks {
  Index rows = 1, columns = 1;  ///< b×c: tiles of a block that each process has
  Index chunk = 1;              ///< d: terms that are computed together
  Index ahead = 1;              ///< ℓ: chunks by which inputs may be ahead
  Index down = 1, across = 1;   ///< X×Y: blocks of C
  Index chunks = 1;             ///< Z: of a block
  bool whole = true;            ///< the paper's c1: all of C stays on the GPUs; false: c2

  Index count() const noexcept { return down * across * chunks; }
  /// Whether the tiles of A, or of B, of a chunk travel again when a later block needs them. If that is sooner than the
  /// look-ahead, they stay where they are.
  bool a_returns() const noexcept { return down * chunks > ahead + 1; }
  bool b_returns() const noexcept { return chunks > ahead + 1; }
};

/// The paper's choice. C fills at most three quarters of each GPU, all of it if it fits, else b = c; the chunk fills
/// the rest. Other copies of tiles take at most half of what the matrices leave of a process's memory.
ProcessBlocks choose_process_blocks(const ProcessModel& processes, const TiledProduct& product,
                                    const WantedBlocks& wanted = {});

/// What a process and a GPU are predicted to load. In a process, `DealtColumns` says what each GPU has.
struct ProcessLoads {
  double received = 0;     ///< bytes that a process receives from others, on average
  char memory_case = 'c';  ///< a: a process's rows of A fit each GPU; b: a GPU's columns of B do; c: neither
  double inputs = 0;       ///< bytes of A and B that a GPU loads on average, from the host or from peers
  double even_inputs = 0;  ///< the same in the paper's model: GPUs divide columns evenly, and no tile returns to a GPU
  double result = 0;       ///< bytes of C that it loads, if β ≠ 0, and writes back
};
ProcessLoads predicted_loads(const ProcessModel& processes, const TiledProduct& product, const ProcessBlocks& blocks);

}  // namespace tessera::detail
