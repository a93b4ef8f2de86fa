// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// Asynchronous kernels of LU factorization that neither cuBLAS nor cuSOLVER has in this form. C++17, because nvcc of
/// CUDA 11 compiles the files that implement them.
namespace tessera::device::cuda {

/// A column of tiles; all but the last have `tile_m` rows.
template <typename T>
struct TileColumn {
  static constexpr int most_tiles = 128;
  T* data[most_tiles];
  int ld[most_tiles];
  int tile_m;
};

/// A list of moves of rows, in device memory: the number of moves, and the source and destination of each.
struct RowMoves {
  const int *count, *destination, *source;
  int capacity;  ///< upper bound for the number of moves
};

/// Moves rows of a column of tiles, all at once. The moves count rows from row `first` of the first tile.
/// @param n          number of columns of the tiles
/// @param backwards  moves from the destinations to the sources
template <typename T>
cudaError_t move_rows(cudaStream_t stream, const TileColumn<T>& A, int first, int n, const RowMoves& moves,
                      bool backwards);

/// Device memory through which the thread blocks that factorize a leaf communicate. It must be zero before its first
/// use.
struct LeafExchange;
std::size_t leaf_exchange_bytes();

inline constexpr std::uint32_t epochs_of_a_leaf = 64;

/// The number of columns that one call of `factorize_leaf` factorizes: as many as fit into the registers of all
/// multiprocessors. 0 if not even one fits.
template <typename T>
int leaf_width(int m, int multiprocessors);

/// The columns of a panel that `factorize_leaf` factorizes.
template <typename T>
struct Leaf {
  T* A;         ///< the panel, from its first row on
  int ld, m;    ///< leading dimension and rows of the panel
  int columns;  ///< columns of the panel
  int begin;    ///< columns [begin, begin + n) are factorized, on rows [begin, m)
  int n;        ///< n ≤ leaf_width, n ≤ m - begin
  int* pivots;  ///< pivots of the panel, counted from 1
  int* origin;  ///< the original row of each row, moved together with the rows; may be null
  int* moves;   ///< workspace: 1 + 4 n ints, the first of which is 0
  int* info;    ///< in pinned memory: the first column, from 1, with a zero pivot, or 0. The leaf at column 0 clears it
};

/// Factorizes columns of a panel, P A = L U with partial pivoting, and exchanges the rows in all other columns of the
/// panel.
/// @param epoch  not 0, and at least `epochs_of_a_leaf` more than in the previous call with this exchange
template <typename T>
cudaError_t factorize_leaf(cudaStream_t stream, const Leaf<T>& leaf, LeafExchange* exchange, std::uint32_t epoch,
                           int multiprocessors);

/// origin[i] ← i
cudaError_t set_origins(cudaStream_t stream, int* origin, int m);

/// Writes the moves of all rows i from origin[i] to i, then origin[i] ← i.
/// @param count  0 before the call
cudaError_t collect_moves(cudaStream_t stream, int* origin, int m, int* count, int* destination, int* source);

}  // namespace tessera::device::cuda
