// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "arithmetic.cuh"
#include "panel.hpp"

/// The factorization of a few columns of a panel in registers.
namespace tessera::device::cuda {

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

/// The data received for a step.
template <typename N>
struct LeafStep {
  alignas(16) unsigned pivot_row[row_stride];  ///< zeros in finished columns
  unsigned whole_pivot_row[row_stride];        ///< received only by the block that holds row j
  unsigned top_row[row_stride];                ///< received only by the block that holds the pivot row
  Candidate best;
  double scale;
  N factor;
};

/// The shared memory of a block. Two copies of the received data alternate, because other warps may still read the data
/// of the step before.
template <typename N>
struct LeafShared {
  LeafStep<N> steps[2];
  Candidate of_warps[warps];
  alignas(16) unsigned own_rows[2][row_stride];  ///< to be sent: row j, the candidate's row
};

/// Each thread holds `rows` rows of `width` columns in registers, and reads and writes them only once. After each step
/// the columns rotate by one place, so the next column is always in front, and the finished column moves to the end.
///
/// A step takes little longer than a candidate and a row need to pass through the L2 cache. Only one warp polls for
/// them, because polling by more warps takes longer. This is the last warp, because the first warp sends the diagonal
/// rows. The next column is updated before the others, so that its candidates are on their way in the meantime.
///
/// All functions are inlined, and loops over `a_`, `row_` and `origin_` are unrolled, because these arrays are in
/// registers only if all their indices are known at compile time.
template <typename N, int width, int rows>
class LeafFactorization {
 public:
  /// Reads the thread's rows.
  __device__ __forceinline__ LeafFactorization(const LeafArguments<N>& args, LeafShared<N>& shared)
      : args_(args), shared_(shared), group_(threadIdx.x / warp) {
#pragma unroll
    for (int r = 0; r < rows; r++) {
      origin_[r] = row_[r] = (blockIdx.x * rows + r) * leaf_threads + thread();
#pragma unroll
      for (int k = 0; k < width; k++)
        a_[r][k] =
            row_[r] < args_.m && k < args_.n ? args_.A[row_[r] + static_cast<std::ptrdiff_t>(k) * args_.ld] : N{};
    }
  }

  /// Factorizes the leaf. All threads of all blocks call this once.
  __device__ __forceinline__ void run() {
    send_rows(0, propose(0));
#pragma unroll 1
    for (int j = 0; j < args_.n; j++) {
      Step& step = shared_.steps[(args_.epoch + j) % 2];
      if (group_ == speaker) receive(j, step);
      __syncthreads();
      const bool usable = magnitude_of(step.best) > 0;
      if (blockIdx.x == 0 && thread() == 0) record_pivot(j, step.best.row, usable);
      const Finished finished = eliminate_in_next_column(j, step, usable);
      const bool more = j + 1 < args_.n;
      const unsigned proposed = more ? propose(j + 1) : no_row;
      eliminate_in_other_columns(finished, step);
      if (more) send_rows(j + 1, proposed);
    }
    write_back();
  }

 private:
  using Step = LeafStep<N>;
  static constexpr int words_of_number = sizeof(N) / 4, words = width * words_of_number + 1;
  static_assert(words <= row_words && width <= warp && width > 1);
  static constexpr int speaker = warps - 1;  ///< the warp that sends candidates and receives

  /// The front column after a step.
  struct Finished {
    N last[rows];           ///< the element of L, or of a finished row
    bool eliminates[rows];  ///< the row is below row j, and the pivot is not zero
  };

  // Signed, because the compiler spills more registers otherwise.
  __device__ __forceinline__ static int thread() { return threadIdx.x; }
  __device__ __forceinline__ static int lane() { return thread() % warp; }

  /// Sends this block's candidate for column j, which is the front column. All threads of the block call this.
  /// @return  the candidate's row
  __device__ __forceinline__ unsigned propose(int j) {
    const std::uint32_t epoch = args_.epoch + j;
    Candidate mine{0, 0, no_row};
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const auto one = candidate(pivot_magnitude(a_[r][0], row_[r] == j), row_[r]);
      if (row_[r] >= j && row_[r] < args_.m && better(one, mine)) mine = one;
    }
    mine = best_of_warp(mine);
    if (lane() == 0) shared_.of_warps[group_] = mine;
    __syncthreads();
    mine = best_of_warp(shared_.of_warps[lane() % warps]);
    if (group_ == speaker && lane() < 3)
      send(&args_.exchange->candidates[epoch % 2][lane()][blockIdx.x], epoch,
           lane() == 0   ? mine.high
           : lane() == 1 ? mine.low
                         : mine.row);
    return mine.row;
  }

  /// Sends the row at place `place` to other blocks, if this warp holds it. All lanes of the warp call this.
  __device__ __forceinline__ void send_row(std::uint32_t epoch, unsigned place, unsigned* own, Word* to) {
    bool found = false;
#pragma unroll
    for (int r = 0; r < rows; r++)
      if (static_cast<unsigned>(row_[r]) == place) {
        found = true;
#pragma unroll
        for (int k = 0; k < width; k++) reinterpret_cast<N*>(own)[k] = a_[r][k];
        own[words - 1] = origin_[r];
      }
    if (!__any_sync(all_lanes, found)) return;
    __syncwarp();
    for (int i = lane(); i < words; i += warp) send(to + i, epoch, own[i]);
  }

  /// Sends the candidate's row, and the row that it may be exchanged with. All lanes of the warp call this.
  __device__ __forceinline__ void send_rows(int j, unsigned proposed) {
    const std::uint32_t epoch = args_.epoch + j;
    if (proposed != no_row) send_row(epoch, proposed, shared_.own_rows[1], args_.exchange->rows[epoch % 2][blockIdx.x]);
    send_row(epoch, j, shared_.own_rows[0], args_.exchange->top[epoch % 2]);
  }

  /// The best candidate of all blocks. As for the rows, all words are requested before the first one is awaited.
  __device__ __forceinline__ Candidate receive_best(std::uint32_t epoch) {
    constexpr int together = 2;
    const int blocks = gridDim.x;
    const auto& from = args_.exchange->candidates[epoch % 2];
    Candidate best{0, 0, no_row};
    for (int first = 0; first < blocks; first += together * warp) {
      Word high[together], low[together], place[together];
      bool complete;
      do {
        complete = true;
#pragma unroll
        for (int q = 0; q < together; q++) {
          const int block = min(first + q * warp + lane(), blocks - 1);
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
  }

  /// Receives the pivot row of step j, and the row that it is exchanged with. All lanes of the speaker call this.
  __device__ __forceinline__ void receive(int j, Step& step) {
    const std::uint32_t epoch = args_.epoch + j;
    const auto best = receive_best(epoch);
    const unsigned owner = best.row / (leaf_threads * rows);
    const bool has_pivot_row = owner == blockIdx.x, has_top_row = blockIdx.x == 0;
    static_assert(warp <= leaf_threads);  // all rows j are in the first block
    constexpr int each = (words + warp - 1) / warp;
    const Word *const from = args_.exchange->rows[epoch % 2][owner], *const top = args_.exchange->top[epoch % 2];
    Word got[each], got_top[each];
    bool complete;
    do {
      complete = true;
#pragma unroll
      for (int q = 0; q < each; q++) {
        const int i = min(lane() + q * warp, words - 1);
        got[q] = peek(from + i);
        if (has_pivot_row) got_top[q] = peek(top + i);
      }
#pragma unroll
      for (int q = 0; q < each; q++) complete &= is_of(got[q], epoch) && (!has_pivot_row || is_of(got_top[q], epoch));
    } while (!complete);
#pragma unroll
    for (int q = 0; q < each; q++) {
      const int i = min(lane() + q * warp, words - 1);
      // Finished columns of the pivot row get zeros, so that other rows keep their elements there. An infinite or NaN
      // factor still spreads over its whole row.
      step.pivot_row[i] = i / words_of_number < width - j ? data_of(got[q]) : 0;
      if (has_top_row) step.whole_pivot_row[i] = data_of(got[q]);
      if (has_pivot_row) step.top_row[i] = data_of(got_top[q]);
    }
    __syncwarp();
    if (lane() != 0) return;
    step.best = best;
    step.scale = scale_for<typename RealOf<N>::Type>(magnitude_of(best));
    step.factor = inverse(scaled(*reinterpret_cast<const N*>(step.pivot_row), step.scale));
  }

  /// Writes the pivot of step j for the host. One thread of all blocks calls this.
  __device__ __forceinline__ void record_pivot(int j, unsigned row, bool usable) {
    args_.pivots[j] = args_.begin + static_cast<int>(row) + 1;
    const int place = args_.begin + j + 1;
    if (place == 1) *args_.info = 0;
    if (!usable && *args_.info == 0) *args_.info = place;
  }

  /// Exchanges row j with the pivot row, then eliminates in the next column, which becomes the front column.
  __device__ __forceinline__ Finished eliminate_in_next_column(int j, const Step& step, bool usable) {
    const N *const whole = reinterpret_cast<const N*>(step.whole_pivot_row),
                   *const top = reinterpret_cast<const N*>(step.top_row),
                   *const pivot_row = reinterpret_cast<const N*>(step.pivot_row);
    Finished finished;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (row_[r] == j) {
#pragma unroll
        for (int k = 0; k < width; k++) a_[r][k] = whole[k];
        origin_[r] = step.whole_pivot_row[words - 1];
      } else if (static_cast<unsigned>(row_[r]) == step.best.row) {
#pragma unroll
        for (int k = 0; k < width; k++) a_[r][k] = top[k];
        origin_[r] = step.top_row[words - 1];
      }
      const bool eliminates = finished.eliminates[r] = row_[r] > j && usable;
      const N last = finished.last[r] = eliminates ? product(scaled(a_[r][0], step.scale), step.factor) : a_[r][0];
      a_[r][0] = eliminates ? minus_product(a_[r][1], last, pivot_row[1]) : a_[r][1];
    }
    return finished;
  }

  /// Eliminates in the columns after the next one, and moves the finished column to the end.
  __device__ __forceinline__ void eliminate_in_other_columns(const Finished& finished, const Step& step) {
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (finished.eliminates[r]) {
        constexpr int together = 16 / sizeof(N) < width ? 16 / sizeof(N) : width;  // numbers per memory access
#pragma unroll
        for (int k0 = 0; k0 < width; k0 += together) {
          struct alignas(together * sizeof(N)) Some {
            N numbers[together];
          };
          const Some u = reinterpret_cast<const Some*>(step.pivot_row)[k0 / together];
#pragma unroll
          for (int k = k0; k < k0 + together; k++)
            if (k > 1) a_[r][k - 1] = minus_product(a_[r][k], finished.last[r], u.numbers[k - k0]);
        }
      } else {
#pragma unroll
        for (int k = 2; k < width; k++) a_[r][k - 1] = a_[r][k];
      }
      a_[r][width - 1] = finished.last[r];
    }
  }

  /// Writes the thread's rows, and lists those that have moved.
  __device__ __forceinline__ void write_back() {
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (row_[r] >= args_.m) continue;
      N* const end = args_.A + row_[r] + static_cast<std::ptrdiff_t>(args_.n) * args_.ld;
#pragma unroll
      for (int k = 0; k < width; k++) {
        if (k >= width - args_.n) end[static_cast<std::ptrdiff_t>(k - width) * args_.ld] = a_[r][k];
      }
      if (origin_[r] != row_[r]) {
        const int i = atomicAdd(args_.moves, 1);
        args_.moves[1 + i] = row_[r];
        args_.moves[1 + 2 * args_.n + i] = origin_[r];
      }
    }
  }

  const LeafArguments<N>& args_;
  LeafShared<N>& shared_;
  const int group_;
  N a_[rows][width];
  int row_[rows], origin_[rows];
};

}  // namespace

}  // namespace tessera::device::cuda
