// SPDX-License-Identifier: BSD-3-Clause
// Kernels that move rows.
#include <cstddef>

#include "arithmetic.cuh"
#include "panel.hpp"

namespace tessera::device::cuda {

namespace {

/// A thread block moves the rows of one column at a time, in shared memory.
template <typename N>
__global__ void __launch_bounds__(column_threads)
    move_rows_kernel(TileColumn<N> A, int first, int n, const int* count, const int* destination, const int* source) {
  extern __shared__ __align__(16) unsigned char memory[];
  N* const moved = reinterpret_cast<N*>(memory);
  const int moves = *count;
  for (int column = blockIdx.x; column < n; column += gridDim.x) {
    const auto at = [&](int row) -> N& {
      const int place = first + row, tile = place / A.tile_m;
      return A.data[tile][place - tile * A.tile_m + static_cast<std::ptrdiff_t>(column) * A.ld[tile]];
    };
    for (int i = threadIdx.x; i < moves; i += column_threads) moved[i] = at(source[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < moves; i += column_threads) at(destination[i]) = moved[i];
    __syncthreads();
  }
}

__global__ void set_origins_kernel(int* origin, int m) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m) origin[row] = row;
}

__global__ void collect_moves_kernel(int* origin, int m, int* count, int* destination, int* source) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || origin[row] == row) return;
  const int i = atomicAdd(count, 1);
  destination[i] = row;
  source[i] = origin[row];
  origin[row] = row;
}

}  // namespace

template <typename T>
cudaError_t move_rows(cudaStream_t stream, const TileColumn<T>& A, int first, int n, const RowMoves& moves,
                      bool backwards) {
  using N = Number<T>;
  TileColumn<N> tiles{};
  for (int i = 0; i < TileColumn<T>::most_tiles; i++)
    tiles.data[i] = reinterpret_cast<N*>(A.data[i]), tiles.ld[i] = A.ld[i];
  tiles.tile_m = A.tile_m;
  move_rows_kernel<N>
      <<<blocks_of_columns(n), column_threads, static_cast<std::size_t>(moves.capacity) * sizeof(N), stream>>>(
          tiles, first, n, moves.count, backwards ? moves.source : moves.destination,
          backwards ? moves.destination : moves.source);
  return cudaGetLastError();
}

cudaError_t set_origins(cudaStream_t stream, int* origin, int m) {
  set_origins_kernel<<<blocks_for(m, column_threads), column_threads, 0, stream>>>(origin, m);
  return cudaGetLastError();
}

cudaError_t collect_moves(cudaStream_t stream, int* origin, int m, int* count, int* destination, int* source) {
  collect_moves_kernel<<<blocks_for(m, column_threads), column_threads, 0, stream>>>(origin, m, count, destination,
                                                                                     source);
  return cudaGetLastError();
}

#define INSTANTIATE(T) \
  template cudaError_t move_rows<T>(cudaStream_t, const TileColumn<T>&, int, int, const RowMoves&, bool);
FOR_EACH_TYPE(INSTANTIATE)

}  // namespace tessera::device::cuda
