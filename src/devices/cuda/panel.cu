// SPDX-License-Identifier: BSD-3-Clause
// The factorization of a few columns of a panel in registers.
#include <cstddef>
#include <type_traits>

#include "arithmetic.cuh"
#include "panel.hpp"

namespace tessera::device {

namespace {

constexpr int leaf_threads = 512, warp = 32, warps = leaf_threads / warp, most_blocks = 256;
constexpr int row_bytes = 256;                       ///< bytes of a row of a leaf in registers, if a thread has one row
constexpr int most_rows = 8;                         ///< per thread
constexpr int row_words = row_bytes / 4 + 1;         ///< the values of a row, and its origin
constexpr int row_stride = (row_words + 3) / 4 * 4;  ///< words of a row in shared memory, padded for alignment
constexpr unsigned all_lanes = 0xffffffffU;

}  // namespace

/// Memory through which thread blocks agree on a pivot row without a global barrier: each block writes its candidate,
/// and reads the candidates of all others. A word has 32 bits of data in its lower half, and the epoch in its upper
/// half. A reader waits until the epoch matches. This needs no fence, which would take longer than everything else.
///
/// Two sets of words are used alternately. A block that writes to a set for the second time has read the candidates in
/// the other set, and thus knows that all blocks have finished with the first set.
struct LeafExchange {
  using Word = unsigned long long;
  Word candidates[2][3][most_blocks];  ///< magnitude in two halves, row
  Word rows[2][most_blocks][row_words];
  Word top[2][row_words];  ///< the row exchanged with the pivot row
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

/// The largest value in a warp.
__device__ unsigned warp_max(unsigned x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(all_lanes, x);
#else
  for (int distance = warp / 2; distance > 0; distance /= 2) x = max(x, __shfl_xor_sync(all_lanes, x, distance));
  return x;
#endif
}
__device__ unsigned warp_min(unsigned x) { return ~warp_max(~x); }

/// A row that may become the pivot row. Magnitudes are compared by their bits, which have the same order as the values.
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
  N* A;  ///< points to the first row and column of the leaf
  int ld, m, n, begin;
  int* pivots;
  int *moves, *info;
  LeafExchange* exchange;
  std::uint32_t epoch;
};

/// Each thread holds `rows` rows of `width` columns in registers, and reads and writes them only once. After each step
/// the columns rotate by one place, so the next column is always in front, and the finished column moves to the end.
///
/// A step takes little longer than a candidate and a row need to pass through the L2 cache. Only one warp polls for
/// them, because polling by more warps takes longer. This is the last warp, because the first warp sends the diagonal
/// rows. The next column is updated before the others, so that its candidates are on their way in the meantime.
template <typename N, int width, int rows>
__global__ void __launch_bounds__(leaf_threads, 1) factorize_leaf_kernel(LeafArguments<N> args) {
  constexpr int words_of_number = sizeof(N) / 4, words = width * words_of_number + 1;
  static_assert(words <= row_words && width <= warp && width > 1);
  constexpr int speaker = warps - 1;  // the warp that sends candidates and receives
  /// The data received for a step. Two copies alternate, because other warps may still read the data of the step
  /// before.
  struct Step {
    alignas(16) unsigned pivot_row[row_stride];  ///< zeros in finished columns
    unsigned whole_pivot_row[row_stride];        ///< received only by the block that holds row j
    unsigned top_row[row_stride];                ///< received only by the block that holds the pivot row
    Candidate best;
    double scale;
    N factor;
  };
  __shared__ Step steps[2];
  __shared__ Candidate of_warps[warps];
  __shared__ alignas(16) unsigned own_rows[2][row_stride];
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

  // Sends this block's candidate for column j, which is the front column. Returns the candidate's row.
  const auto propose = [&](int j) {
    const std::uint32_t epoch = args.epoch + j;
    Candidate mine{0, 0, no_row};
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const auto one = candidate(pivot_magnitude(a[r][0], row[r] == j), row[r]);
      if (row[r] >= j && row[r] < args.m && better(one, mine)) mine = one;
    }
    mine = best_of_warp(mine);
    if (lane == 0) of_warps[group] = mine;
    __syncthreads();
    mine = best_of_warp(of_warps[lane % warps]);
    if (group == speaker && lane < 3)
      send(&args.exchange->candidates[epoch % 2][lane][blockIdx.x], epoch,
           lane == 0   ? mine.high
           : lane == 1 ? mine.low
                       : mine.row);
    return mine.row;
  };
  // Sends the row at place `place` to other blocks, if this warp holds it.
  const auto send_row = [&](std::uint32_t epoch, unsigned place, unsigned* own, Word* to) {
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
  // Sends the candidate's row, and the row that it may be exchanged with.
  const auto send_rows = [&](int j, unsigned proposed) {
    const std::uint32_t epoch = args.epoch + j;
    if (proposed != no_row) send_row(epoch, proposed, own_rows[1], args.exchange->rows[epoch % 2][blockIdx.x]);
    send_row(epoch, j, own_rows[0], args.exchange->top[epoch % 2]);
  };
  // The best candidate of all blocks. As for the rows, all words are requested before the first one is awaited.
  const auto receive_best = [&](std::uint32_t epoch) {
    constexpr int together = 2;
    const auto& from = args.exchange->candidates[epoch % 2];
    Candidate best{0, 0, no_row};
    for (int first = 0; first < blocks; first += together * warp) {
      Word high[together], low[together], place[together];
      bool complete;
      do {
        complete = true;
#pragma unroll
        for (int q = 0; q < together; q++) {
          const int block = min(first + q * warp + lane, blocks - 1);
          high[q] = peek(&from[0][block]), low[q] = peek(&from[1][block]), place[q] = peek(&from[2][block]);
        }
#pragma unroll
        for (int q = 0; q < together; q++)
          complete &= is_of(high[q], epoch) && is_of(low[q], epoch) && is_of(place[q], epoch);
      } while (!complete);
#pragma unroll
      for (int q = 0; q < together; q++) {
        const Candidate one{data_of(high[q]), data_of(low[q]), data_of(place[q])};
        if (better(one, best)) best = one;
      }
    }
    return best_of_warp(best);
  };
  const auto receive = [&](int j, Step& step) {
    const std::uint32_t epoch = args.epoch + j;
    const auto best = receive_best(epoch);
    const unsigned owner = best.row / (leaf_threads * rows);
    const bool has_pivot_row = owner == blockIdx.x, has_top_row = blockIdx.x == 0;
    static_assert(warp <= leaf_threads);  // all rows j are in the first block
    constexpr int each = (words + warp - 1) / warp;
    const Word *const from = args.exchange->rows[epoch % 2][owner], *const top = args.exchange->top[epoch % 2];
    Word got[each], got_top[each];
    bool complete;
    do {
      complete = true;
#pragma unroll
      for (int q = 0; q < each; q++) {
        const int i = min(lane + q * warp, words - 1);
        got[q] = peek(from + i);
        if (has_pivot_row) got_top[q] = peek(top + i);
      }
#pragma unroll
      for (int q = 0; q < each; q++) complete &= is_of(got[q], epoch) && (!has_pivot_row || is_of(got_top[q], epoch));
    } while (!complete);
#pragma unroll
    for (int q = 0; q < each; q++) {
      const int i = min(lane + q * warp, words - 1);
      // Finished columns of the pivot row get zeros, so that other rows keep their elements there. An infinite or NaN
      // factor still spreads over its whole row.
      step.pivot_row[i] = i / words_of_number < width - j ? data_of(got[q]) : 0;
      if (has_top_row) step.whole_pivot_row[i] = data_of(got[q]);
      if (has_pivot_row) step.top_row[i] = data_of(got_top[q]);
    }
    __syncwarp();
    if (lane != 0) return;
    step.best = best;
    step.scale = scale_for<typename RealOf<N>::Type>(magnitude_of(best));
    step.factor = inverse(scaled(*reinterpret_cast<const N*>(step.pivot_row), step.scale));
  };

  send_rows(0, propose(0));
#pragma unroll 1
  for (int j = 0; j < args.n; j++) {
    Step& step = steps[(args.epoch + j) % 2];
    if (group == speaker) receive(j, step);
    __syncthreads();
    const N *const whole = reinterpret_cast<const N*>(step.whole_pivot_row),
                   *const top = reinterpret_cast<const N*>(step.top_row),
                   *const pivot_row = reinterpret_cast<const N*>(step.pivot_row);
    const auto best = step.best;
    const bool usable = magnitude_of(best) > 0;
    if (blockIdx.x == 0 && thread == 0) {
      args.pivots[j] = args.begin + static_cast<int>(best.row) + 1;
      const int place = args.begin + j + 1;
      if (place == 1) *args.info = 0;
      if (!usable && *args.info == 0) *args.info = place;
    }

    // Exchange row j with the pivot row, then eliminate in the next column.
    N last[rows];  // the element of L, or of a finished row
    bool eliminates[rows];
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (row[r] == j) {
#pragma unroll
        for (int k = 0; k < width; k++) a[r][k] = whole[k];
        origin[r] = step.whole_pivot_row[words - 1];
      } else if (static_cast<unsigned>(row[r]) == best.row) {
#pragma unroll
        for (int k = 0; k < width; k++) a[r][k] = top[k];
        origin[r] = step.top_row[words - 1];
      }
      eliminates[r] = row[r] > j && usable;
      last[r] = eliminates[r] ? product(scaled(a[r][0], step.scale), step.factor) : a[r][0];
      a[r][0] = eliminates[r] ? minus_product(a[r][1], last[r], pivot_row[1]) : a[r][1];
    }
    const bool more = j + 1 < args.n;
    const unsigned proposed = more ? propose(j + 1) : no_row;

    // Eliminate in the other columns.
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (eliminates[r]) {
        constexpr int together = 16 / sizeof(N) < width ? 16 / sizeof(N) : width;  // numbers per memory access
#pragma unroll
        for (int k0 = 0; k0 < width; k0 += together) {
          struct alignas(together * sizeof(N)) Some {
            N numbers[together];
          };
          const Some u = reinterpret_cast<const Some*>(pivot_row)[k0 / together];
#pragma unroll
          for (int k = k0; k < k0 + together; k++)
            if (k > 1) a[r][k - 1] = minus_product(a[r][k], last[r], u.numbers[k - k0]);
        }
      } else {
#pragma unroll
        for (int k = 2; k < width; k++) a[r][k - 1] = a[r][k];
      }
      a[r][width - 1] = last[r];
    }
    if (more) send_rows(j + 1, proposed);
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

}  // namespace tessera::device
