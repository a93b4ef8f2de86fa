// SPDX-License-Identifier: BSD-3-Clause
// The factorization of a few columns of a panel in registers.
#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>

#include "device_number.cuh"
#include "device_panel.hpp"

namespace tessera::device {

namespace {

constexpr int leaf_threads = 512, warp = 32, warps = leaf_threads / warp, most_blocks = 256;
constexpr int row_bytes = 256;                       ///< of a row of a leaf in registers, if a thread has one
constexpr int most_rows = 8;                         ///< of a thread
constexpr int row_words = row_bytes / 4 + 1;         ///< the values of a row, and its origin
constexpr int row_stride = (row_words + 3) / 4 * 4;  ///< words of a row in shared memory: values are aligned there
constexpr unsigned all_lanes = 0xffffffffU;

}  // namespace

/// How blocks agree on a pivot row without a barrier for all: each writes its candidate, and reads those of all others.
/// A word has 32 bits of data, and the epoch in its upper half: a reader waits until the epoch is right, so that no
/// fence is needed, which would take longer than all the rest.
///
/// The two sets take turns. A block that writes to one of them for the second time has read candidates from the other,
/// and so knows that all blocks have finished with the first.
struct LeafExchange {
  using Word = unsigned long long;
  Word candidates[2][3][most_blocks];  ///< magnitude in two halves, row
  Word rows[2][most_blocks][row_words];
  Word top[2][row_words];  ///< the row that changes places with the pivot row
};

std::size_t leaf_exchange_bytes() { return sizeof(LeafExchange); }

namespace {

using Word = LeafExchange::Word;

__device__ void send(Word* to, std::uint32_t epoch, unsigned data) {
  const Word word = static_cast<Word>(epoch) << 32 | data;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
__device__ Word peek(const Word* from) {
  Word word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}
__device__ bool is_of(Word word, std::uint32_t epoch) { return word >> 32 == epoch; }
__device__ unsigned data_of(Word word) { return static_cast<unsigned>(word & all_lanes); }

/// Extremes over a warp.
__device__ unsigned warp_max(unsigned x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(all_lanes, x);
#else
  for (int distance = warp / 2; distance > 0; distance /= 2) x = max(x, __shfl_xor_sync(all_lanes, x, distance));
  return x;
#endif
}
__device__ unsigned warp_min(unsigned x) { return ~warp_max(~x); }

/// A row that may become the pivot row. Magnitudes are compared by their bits, which have the order of the values.
struct Candidate {
  unsigned high, low;  ///< the magnitude
  unsigned row;
};
constexpr unsigned no_row = 0xffffffffU;

__device__ Candidate candidate(double magnitude, int row) {
  const auto bits = static_cast<Word>(__double_as_longlong(magnitude));
  return {static_cast<unsigned>(bits >> 32), data_of(bits), static_cast<unsigned>(row)};
}
__device__ double magnitude_of(const Candidate& one) {
  return __longlong_as_double(static_cast<long long>(static_cast<Word>(one.high) << 32 | one.low));
}
__device__ bool better(const Candidate& a, const Candidate& b) {
  if (a.high != b.high) return a.high > b.high;
  if (a.low != b.low) return a.low > b.low;
  return a.row < b.row;
}
__device__ Candidate best_of_warp(const Candidate& mine) {
  const unsigned high = warp_max(mine.high);
  const unsigned low = warp_max(mine.high == high ? mine.low : 0);
  return {high, low, warp_min(mine.high == high && mine.low == low ? mine.row : no_row)};
}

template <typename N>
struct LeafArguments {
  N* A;  ///< at the first row and column of the leaf
  int ld, m, n, begin;
  int* pivots;
  int *moves, *info;
  LeafExchange* exchange;
  std::uint32_t epoch;
};

/// Each thread holds `rows` rows of `width` columns in registers, which it reads and writes once. After each step the
/// columns move one place to the front, and the finished one to the end: the next one is always in front.
template <typename N, int width, int rows>
__global__ void __launch_bounds__(leaf_threads, 1) factorize_leaf_kernel(LeafArguments<N> args) {
  constexpr int words_of_number = sizeof(N) / 4, words = width * words_of_number + 1;
  static_assert(words <= row_words && width <= warp);
  __shared__ Candidate candidates[2][warps];
  __shared__ alignas(16) unsigned pivot_rows[warps][row_stride], own_rows[2][row_stride], top_row[row_stride],
      whole_pivot_row[row_stride];
  const int thread = threadIdx.x, lane = thread % warp, group = thread / warp, blocks = gridDim.x;
  N a[rows][width];
  int row[rows], origin[rows];
#pragma unroll
  for (int r = 0; r < rows; r++) {
    origin[r] = row[r] = (blockIdx.x * rows + r) * leaf_threads + thread;
#pragma unroll
    for (int k = 0; k < width; k++)
      a[r][k] = row[r] < args.m && k < args.n ? args.A[row[r] + static_cast<std::ptrdiff_t>(k) * args.ld] : N{};
  }
#pragma unroll 1
  for (int j = 0; j < args.n; j++) {
    const std::uint32_t epoch = args.epoch + j;
    const int turn = epoch % 2, unfinished = width - j;
    // Sends the row in place `place` to other blocks, if this warp has it.
    const auto send_row = [&](unsigned place, unsigned* own, Word* to) {
      bool found = false;
#pragma unroll
      for (int r = 0; r < rows; r++)
        if (static_cast<unsigned>(row[r]) == place) {
          found = true;
#pragma unroll
          for (int k = 0; k < width; k++) reinterpret_cast<N*>(own)[k] = a[r][k];
          own[words - 1] = origin[r];
        }
      if (!__any_sync(all_lanes, found)) return;
      __syncwarp();
      for (int i = lane; i < words; i += warp) send(to + i, epoch, own[i]);
    };
    // Receives the pivot row, and if wanted all of it with its finished columns, and the row that it changes places
    // with. All words are on their way before the first is awaited.
    const auto receive_rows = [&](const Word* from, unsigned* to, unsigned* whole, bool second, const Word* from2,
                                  unsigned* to2) {
      constexpr int each = (words + warp - 1) / warp;
      Word got[each], got2[each];
      bool complete;
      do {
        complete = true;
#pragma unroll
        for (int q = 0; q < each; q++) {
          const int i = min(lane + q * warp, words - 1);
          got[q] = peek(from + i);
          if (second) got2[q] = peek(from2 + i);
        }
#pragma unroll
        for (int q = 0; q < each; q++) complete &= is_of(got[q], epoch) && (!second || is_of(got2[q], epoch));
      } while (!complete);
#pragma unroll
      for (int q = 0; q < each; q++) {
        const int i = min(lane + q * warp, words - 1);
        // Zeros for finished columns: other rows keep their elements there, unless the factor of the row is infinite or
        // NaN, which then spreads over the row
        to[i] = i / words_of_number < unfinished ? data_of(got[q]) : 0;
        if (whole != nullptr) whole[i] = data_of(got[q]);
        if (second) to2[i] = data_of(got2[q]);
      }
    };

    // This block's candidate
    Candidate mine{0, 0, no_row};
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const auto one = candidate(magnitude(a[r][0]), row[r]);
      if (row[r] >= j && row[r] < args.m && better(one, mine)) mine = one;
    }
    mine = best_of_warp(mine);
    if (lane == 0) candidates[0][group] = mine;
    send_row(j, own_rows[0], args.exchange->top[turn]);
    __syncthreads();
    mine = best_of_warp(candidates[0][lane % warps]);
    if (thread < 3)
      send(&args.exchange->candidates[turn][thread][blockIdx.x], epoch,
           thread == 0   ? mine.high
           : thread == 1 ? mine.low
                         : mine.row);
    if (mine.row != no_row) send_row(mine.row, own_rows[1], args.exchange->rows[turn][blockIdx.x]);

    // The best of all blocks
    const int readers = (blocks + warp - 1) / warp;  // warps that read candidates
    if (group < readers) {
      Candidate other{0, 0, no_row};
      if (thread < blocks) {
        const auto& from = args.exchange->candidates[turn];
        Word high, low, place;
        do {
          high = peek(&from[0][thread]), low = peek(&from[1][thread]), place = peek(&from[2][thread]);
        } while (!is_of(high, epoch) || !is_of(low, epoch) || !is_of(place, epoch));
        other = {data_of(high), data_of(low), data_of(place)};
      }
      other = best_of_warp(other);
      if (lane == 0) candidates[1][group] = other;
    }
    __syncthreads();
    const auto best = best_of_warp(candidates[1][lane < readers ? lane : 0]);
    unsigned* const pivot_row = pivot_rows[group];
    bool has_pivot_row = false, has_top_row = false;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      has_pivot_row |= static_cast<unsigned>(row[r]) == best.row;
      has_top_row |= row[r] == j;
    }
    receive_rows(args.exchange->rows[turn][best.row / (leaf_threads * rows)], pivot_row,
                 __any_sync(all_lanes, has_top_row) ? whole_pivot_row : nullptr, __any_sync(all_lanes, has_pivot_row),
                 args.exchange->top[turn], top_row);
    __syncwarp();

    // Exchange row j with the pivot row, then eliminate.
    const N *const whole = reinterpret_cast<const N*>(whole_pivot_row), *const top =
                                                                            reinterpret_cast<const N*>(top_row);
    const double largest = magnitude_of(best);
    const bool usable = largest > 0;
    const double scale = scale_for<typename RealOf<N>::Type>(largest);
    const N factor = inverse(scaled(*reinterpret_cast<const N*>(pivot_row), scale));
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (row[r] == j) {
#pragma unroll
        for (int k = 0; k < width; k++) a[r][k] = whole[k];
        origin[r] = whole_pivot_row[words - 1];
      } else if (static_cast<unsigned>(row[r]) == best.row) {
#pragma unroll
        for (int k = 0; k < width; k++) a[r][k] = top[k];
        origin[r] = top_row[words - 1];
      }
      if (row[r] > j && usable) {
        const N l = product(scaled(a[r][0], scale), factor);
        constexpr int together = 16 / sizeof(N) < width ? 16 / sizeof(N) : width;  // numbers of one access
#pragma unroll
        for (int k0 = 0; k0 < width; k0 += together) {
          struct alignas(together * sizeof(N)) Some {
            N numbers[together];
          };
          const Some u = reinterpret_cast<const Some*>(pivot_row)[k0 / together];
#pragma unroll
          for (int k = k0; k < k0 + together; k++)
            if (k > 0) a[r][k - 1] = minus_product(a[r][k], l, u.numbers[k - k0]);
        }
        a[r][width - 1] = l;
      } else {
        const N finished = a[r][0];
#pragma unroll
        for (int k = 1; k < width; k++) a[r][k - 1] = a[r][k];
        a[r][width - 1] = finished;
      }
    }
    __syncwarp();
    if (blockIdx.x == 0 && thread == 0) {
      args.pivots[j] = args.begin + static_cast<int>(best.row) + 1;
      const int place = args.begin + j + 1;
      if (place == 1) *args.info = 0;
      if (!usable && *args.info == 0) *args.info = place;
    }
  }
#pragma unroll
  for (int r = 0; r < rows; r++) {
    if (row[r] >= args.m) continue;
#pragma unroll
    for (int k = 0; k < width; k++) {
      const int column = k - (width - args.n);
      if (column >= 0) args.A[row[r] + static_cast<std::ptrdiff_t>(column) * args.ld] = a[r][k];
    }
    if (origin[r] != row[r]) {
      const int i = atomicAdd(args.moves, 1);
      args.moves[1 + i] = row[r];
      args.moves[1 + 2 * args.n + i] = origin[r];
    }
  }
}

/// Moves the rows of all columns but those of a leaf, and their origins.
template <typename N>
__global__ void __launch_bounds__(2 * warp)
    move_other_columns(N* A, int ld, int columns, int begin, int n, const int* moves, int* origin) {
  const int thread = threadIdx.x;
  const bool moves_one = thread < *moves;
  const int to = moves_one ? begin + moves[1 + thread] : 0, from = moves_one ? begin + moves[1 + 2 * n + thread] : 0;
  // A block moves what its threads have all read: at most 2 n elements of a column.
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

/// Calls body(rows, width) with constants: the rows of a thread, and the columns for which it then has registers.
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
    // Blocks wait for one another: all must run at the same time.
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
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera::device
