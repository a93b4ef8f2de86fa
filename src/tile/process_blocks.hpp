// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/types.hpp>

/// Blocks, chunks and look-ahead of a product over many processes: Hérault et al., "A Generic Matrix Multiplication for
/// Multi-GPU Accelerated Distributed-Memory Platforms over PaRSEC", 2019.
namespace tessera::tile {

/// The properties of the processes in a p×q grid on which the choice depends.
struct ProcessModel {
  int p = 1, q = 1;
  int gpus = 0;                             ///< GPUs of each process; 0: the CPU cores compute
  double gpu_memory = 0;                    ///< memory of each GPU for tiles [bytes]; 0: no GPU, or no known limit
  double host_memory = 0;                   ///< memory that each process may take [bytes]; 0: no known limit
  bool factorizes_beside_products = false;  ///< whether a GPU can factorize a panel and multiply at the same time
};

/// A product in tiles: mt×kt times kt×nt.
struct TiledProduct {
  Index mt = 0, nt = 0, kt = 0;
  double a = 0, b = 0, c = 0;  ///< bytes of a tile of each matrix
};

/// Requests of the user, in tiles; 0 or empty: chosen automatically.
struct WantedBlocks {
  Index rows = 0, columns = 0, chunk = 0, ahead = 0;
  std::optional<bool> holds_back = {};
};

/// How a product is cut. Blocks of C are computed down one column of blocks after another. Within a block, chunks of
/// the sum follow each other. If inputs are not held back, all are sent at the start, and stay.
struct ProcessBlocks {
  Index rows = 1, columns = 1;  ///< b×c: tiles per process in a block
  Index chunk = 1;              ///< d: terms computed together
  Index ahead = 1;              ///< ℓ: number of chunks by which inputs may be ahead
  Index down = 1, across = 1;   ///< X×Y: number of blocks of C
  Index chunks = 1;             ///< Z: number of chunks per block
  bool holds_back = false;      ///< whether inputs wait until they are less than ℓ + 1 chunks ahead
  bool whole = true;            ///< true: the paper's case c1, all of C stays on the GPUs; false: c2

  Index count() const noexcept { return down * across * chunks; }
  /// Whether the tiles of A, or of B, of a chunk are sent again when a later block needs them. If that happens within
  /// the look-ahead, they stay in place instead.
  bool a_returns() const noexcept { return holds_back && down * chunks > ahead + 1; }
  bool b_returns() const noexcept { return holds_back && chunks > ahead + 1; }
};

/// The memory of a process for copies of other processes' tiles [bytes]: half of what the matrices leave free.
/// @param matrices  bytes of the process's parts of the matrices
double memory_for_copies(const ProcessModel& processes, double matrices);

/// The choice of Hérault et al. C fills at most three quarters of each GPU: all of C if it fits, otherwise a block with
/// b = c. The chunk fills the rest. Copies of other processes' tiles take at most half of the host memory that the
/// matrices leave free. If copies of all inputs fit there, none are held back: no tile is then sent twice, and all
/// processes send at once. If inputs are held back, only the row and the column of processes that own the inputs of a
/// term send.
ProcessBlocks choose_process_blocks(const ProcessModel& processes, const TiledProduct& product,
                                    const WantedBlocks& wanted = {});

/// Predicted loads of a process and of a GPU. Within a process, GPUs have shares as in `DealtColumns`.
struct ProcessLoads {
  double received = 0;     ///< average bytes that a process receives from others
  char memory_case = 'c';  ///< a: a process's rows of A fit on each GPU; b: a GPU's columns of B fit; c: neither
  double inputs = 0;       ///< average bytes of A and B that a GPU loads from the host or from peers
  double even_inputs = 0;  ///< `inputs` in the paper's model: GPUs divide columns evenly, and no GPU loads a tile twice
  double result = 0;       ///< bytes of C that a GPU loads (if β ≠ 0) and writes back
};
ProcessLoads predicted_loads(const ProcessModel& processes, const TiledProduct& product, const ProcessBlocks& blocks);

}  // namespace tessera::tile
