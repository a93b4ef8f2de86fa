// SPDX-License-Identifier: BSD-3-Clause
// Launches the factorization of a few columns of a panel, and exchanges the rows in its other columns.
#include <cstddef>
#include <type_traits>

#include "arithmetic.cuh"
#include "leaf.cuh"
#include "panel.hpp"

namespace tessera::device::cuda {

std::size_t leaf_exchange_bytes() { return sizeof(LeafExchange); }

namespace {

template <typename N, int width, int rows>
__global__ void __launch_bounds__(leaf_threads, 1) factorize_leaf_kernel(LeafArguments<N> args) {
  __shared__ LeafShared<N> shared;
  LeafFactorization<N, width, rows>(args, shared).run();
}

/// Moves the rows, and their origins, in all columns except those of a leaf.
template <typename N>
__global__ void __launch_bounds__(2 * warp)
    move_other_columns(N* A, int ld, int columns, int begin, int n, const int* moves, int* origin) {
  const int thread = threadIdx.x;
  const bool moves_one = thread < *moves;
  const int to = moves_one ? begin + moves[1 + thread] : 0, from = moves_one ? begin + moves[1 + 2 * n + thread] : 0;
  // A block moves at most 2 n elements of a column. All its threads read before any of them writes.
  const auto move = [&](auto* x) {
    auto moved = *x;
    if (moves_one) moved = x[from];
    __syncthreads();
    if (moves_one) x[to] = moved;
    __syncthreads();
  };
  for (int column = blockIdx.x; column < columns; column += gridDim.x)
    if (column < begin || column >= begin + n) move(A + static_cast<std::ptrdiff_t>(column) * ld);
  if (origin != nullptr && blockIdx.x == 0) move(origin);
}

/// Calls body(rows, width) with compile-time constants: the rows per thread, and the number of columns that fit into
/// its registers.
/// @return  false if the multiprocessors have no room for m rows
template <typename N, int rows = 1, typename Body>
bool with_shape(int m, int multiprocessors, Body body) {
  constexpr int widest = row_bytes / static_cast<int>(sizeof(N)) / rows, width = widest < warp ? widest : warp;
  if constexpr (rows > most_rows) {
    return false;
  } else {
    const int blocks = multiprocessors < most_blocks ? multiprocessors : most_blocks;
    if (static_cast<std::int64_t>(m) > static_cast<std::int64_t>(blocks) * leaf_threads * rows)
      return with_shape<N, 2 * rows>(m, multiprocessors, body);
    body(std::integral_constant<int, rows>{}, std::integral_constant<int, width>{});
    return true;
  }
}

}  // namespace

template <typename T>
int leaf_width(int m, int multiprocessors) {
  int width = 0;
  with_shape<Number<T>>(m, multiprocessors, [&](auto /*rows*/, auto columns) { width = columns; });
  return width;
}

template <typename T>
cudaError_t factorize_leaf(cudaStream_t stream, const Leaf<T>& leaf, LeafExchange* exchange, std::uint32_t epoch,
                           int multiprocessors) {
  using N = Number<T>;
  N* const A = reinterpret_cast<N*>(leaf.A);
  LeafArguments<N> args{A + leaf.begin + static_cast<std::ptrdiff_t>(leaf.begin) * leaf.ld,
                        leaf.ld,
                        leaf.m - leaf.begin,
                        leaf.n,
                        leaf.begin,
                        leaf.pivots + leaf.begin,
                        leaf.moves,
                        leaf.info,
                        exchange,
                        epoch};
  cudaError_t status = cudaErrorInvalidValue;
  with_shape<N>(args.m, multiprocessors, [&](auto rows, auto columns) {
    void* arguments[] = {&args};
    // Blocks wait for one another, so all must run at the same time.
    status = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(factorize_leaf_kernel<N, columns(), rows()>),
                                         blocks_for(args.m, leaf_threads * rows()), leaf_threads, arguments, 0, stream);
  });
  if (status != cudaSuccess) return status;
  constexpr int most_blocks_for_columns = 512;
  const int blocks = leaf.columns < most_blocks_for_columns ? leaf.columns : most_blocks_for_columns;
  move_other_columns<N>
      <<<blocks, 2 * warp, 0, stream>>>(A, leaf.ld, leaf.columns, leaf.begin, leaf.n, leaf.moves, leaf.origin);
  return cudaGetLastError();
}

#define INSTANTIATE(T)                  \
  template int leaf_width<T>(int, int); \
  template cudaError_t factorize_leaf<T>(cudaStream_t, const Leaf<T>&, LeafExchange*, std::uint32_t, int);
FOR_EACH_TYPE(INSTANTIATE)

}  // namespace tessera::device::cuda
