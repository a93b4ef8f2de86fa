// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "codelet.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

#ifdef TESSERA_WITH_CUDA

/// What the host must know about the inverses and the triangle, computed by the GPU in pinned memory.
template <Scalar T>
struct Findings {
  static constexpr auto unknown = std::numeric_limits<Real<T>>::quiet_NaN();
  // Not finite if an element is not: the sums of the magnitudes of the inverses of each order, of the blocks, and of
  // what the rest of the triangle leaves.
  Real<T> inverses_sum[2] = {unknown, unknown}, blocks_sum = unknown, rest = unknown;
  int blocks_index = 1, inverses_index[2] = {1, 1};  ///< of the largest element, from 1; of inverses of each order
  Real<T> blocks = 0, inverses[2] = {};              ///< magnitude of this element
};

/// The inversion of the blocks on the diagonal of a tile.
template <Scalar T>
class Inversion {
 public:
  Inversion(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag)
      : A_(A), V_{D.data}, uplo_(uplo), diag_(diag), handle_(device::local_handle()),
        found_(*new (device::local_results()) Findings<T>) {
    static_assert(sizeof(Findings<T>) <= device::results_bytes);
  }

  /// Computes the inverses of the blocks. Waits for the stream twice: the magnitude of an element can be read only when
  /// its index is known.
  /// @return  how trsm may use the inverses
  Inverses run() {
    // Two pointers for each block, and five for each pair of blocks.
    if (static_cast<std::size_t>(A_.n / diagonal_block + 1) * 5 > device::most_pointers) {
      report_failure("diagonal_blocks on a GPU: a tile of order " + std::to_string(A_.n) + " is too large");
      return {Inverses::Refused, 0};
    }
    examine_blocks();
    examine_rest();
    invert_smallest();
    double_order();
    largest(&found_.inverses_index[1]);
    sum(&found_.inverses_sum[1]);
    wait();
    const Real<T> sums[] = {found_.inverses_sum[0], found_.blocks_sum, found_.rest};
    if (!std::ranges::all_of(sums, [](Real<T> x) { return std::isfinite(x); })) return {Inverses::NotFinite, 0};
    read_largest();
    wait();
    const auto growth = [&](int i) {
      return static_cast<double>(found_.blocks) * static_cast<double>(found_.inverses[i]);
    };
    for (const int i : {1, 0})
      if (usable(i) && growth(i) <= accurate_growth[i]) return {Inverses::Accurate, diagonal_block << i};
    return {growth(0) <= refinable_growth<T> ? Inverses::ToRefine : Inverses::Refused, diagonal_block};
  }

 private:
  /// False if an inverse of this order has overflowed.
  bool usable(int i) const { return std::isfinite(found_.inverses_sum[i]); }
  static void wait() { check("diagonal_blocks", cudaStreamSynchronize(starpu_cuda_get_local_stream())); }
  Index elements() const { return static_cast<Index>(V_.ld) * A_.n; }

  void clear() {
    check("diagonal_blocks", cudaMemsetAsync(V_.data, 0, elements() * sizeof(T), starpu_cuda_get_local_stream()));
  }
  void set_unit_diagonal() {
    static_assert(DiagonalBlocks<T>::ld <= device::leaf);
    for (int first = 0; first < A_.n; first += V_.ld)
      device::set_unit_diagonal<T>(std::min(V_.ld, A_.n - first), V_.element(first, first), V_.ld);
  }
  /// The sum of the magnitudes, and the index of the largest element, of what is now in D.
  void sum(Real<T>* result) {
    const device::ResultsInMemory mode(handle_);
    check("asum", device::sum_of_magnitudes<T>(handle_, static_cast<int>(elements()), V_.data, result));
  }
  void largest(int* index) {
    const device::ResultsInMemory mode(handle_);
    check("amax", device::largest<T>(handle_, static_cast<int>(elements()), V_.data, index));
  }

  /// Expands the blocks of A in D, where their inverses will be, to find their largest element and whether all elements
  /// are finite.
  void examine_blocks() {
    clear();
    auto* const packed = static_cast<T*>(device::local_workspace());
    for (int first = 0; first < A_.n; first += V_.ld)
      check("diagonal_blocks",
            device::copy_triangle<T>(handle_, uplo_, std::min(V_.ld, A_.n - first), element(A_, first, first), A_.ld,
                                     packed, V_.element(first, first), V_.ld));
    if (diag_ == Diag::Unit) set_unit_diagonal();
    sum(&found_.blocks_sum);
    largest(&found_.blocks_index);
  }

  /// Multiplies the triangle of A outside the blocks by zeros. All results are finite only if all elements are: a zero
  /// times any other value is NaN.
  void examine_rest() {
    auto* const sums = static_cast<T*>(device::local_workspace());
    auto* const zeros = sums + A_.m;
    check("diagonal_blocks", cudaMemsetAsync(sums, 0, (A_.m + V_.ld) * sizeof(T), starpu_cuda_get_local_stream()));
    for (int first = 0; first < A_.n; first += V_.ld) {
      const int n = std::min(V_.ld, A_.n - first);
      const int begin = uplo_ == Uplo::Lower ? first + n : 0, end = uplo_ == Uplo::Lower ? A_.m : first;
      if (begin < end)
        check("diagonal_blocks",
              device::gemm<T>(handle_, Op::NoTrans, Op::NoTrans, end - begin, 1, n, T(1), element(A_, begin, first),
                              A_.ld, zeros, V_.ld, T(1), sums + begin, A_.m));
    }
    const device::ResultsInMemory mode(handle_);
    check("asum", device::sum_of_magnitudes<T>(handle_, A_.m, sums, &found_.rest));
  }

  /// Writes arrays of pointers to where kernels can read them. They stay until `run` has waited for the stream.
  const T** to_device(const std::vector<const T*>& pointers) {
    auto* const target = reinterpret_cast<const T**>(device::local_pointers()) + pointers_;
    pointers_ += pointers.size();
    std::ranges::copy(pointers, target);
    return target;
  }

  /// The inverses of the smallest blocks, by substitution. One batch computes all blocks of full size.
  void invert_smallest() {
    clear();
    set_unit_diagonal();
    const int whole = A_.n / diagonal_block, rest = A_.n % diagonal_block;
    const auto first = [](int block) { return block * diagonal_block; };
    std::vector<const T*> pointers;
    for (int i = 0; i < whole; i++) pointers.push_back(element(A_, first(i), first(i)));
    for (int i = 0; i < whole; i++) pointers.push_back(V_.element(first(i), first(i)));
    if (whole > 0) {
      const auto on_device = to_device(pointers);
      check("diagonal_blocks",
            device::trsm_batched<T>(handle_, Side::Left, uplo_, Op::NoTrans, diag_, diagonal_block, diagonal_block,
                                    T(1), on_device, A_.ld, const_cast<T* const*>(on_device + whole), V_.ld, whole));
    }
    if (rest > 0)
      check("diagonal_blocks", device::trsm<T>(handle_, Side::Left, uplo_, Op::NoTrans, diag_, rest, rest, T(1),
                                               element(A_, first(whole), first(whole)), A_.ld,
                                               V_.element(first(whole), first(whole)), V_.ld));
    largest(&found_.inverses_index[0]);
    sum(&found_.inverses_sum[0]);
  }

  /// Computes the inverses of blocks of twice the order. A block has two halves on its diagonal, whose inverses are
  /// known, and a square A(r, c) beside them: V(r, c) = −V(r, r) A(r, c) V(c, c).
  void double_order() {
    constexpr int order = diagonal_block;
    std::vector<int> whole;  // first rows of blocks of full size
    for (int first = 0; first + order < A_.n; first += 2 * order) {
      if (first + 2 * order <= A_.n) whole.push_back(first);
      else double_last(first, A_.n - first - order);
    }
    const auto square = static_cast<std::size_t>(order) * order;
    const auto all = static_cast<int>(whole.size());
    const int fit = static_cast<int>(device::workspace_bytes / (square * sizeof(T)));
    for (int begin = 0; begin < all; begin += fit) {
      const int count = std::min(fit, all - begin);
      std::vector<const T*> pointers(5 * static_cast<std::size_t>(count));
      for (int i = 0; i < count; i++) {
        const int first = whole[static_cast<std::size_t>(begin + i)];
        const int r = uplo_ == Uplo::Lower ? first + order : first, c = uplo_ == Uplo::Lower ? first : first + order;
        const T* const of_block[] = {element(A_, r, c), V_.element(c, c), products() + i * square, V_.element(r, r),
                                     V_.element(r, c)};
        for (int array = 0; array < 5; array++) pointers[static_cast<std::size_t>(array * count + i)] = of_block[array];
      }
      const auto on_device = to_device(pointers);
      const auto array = [&](int i) { return on_device + static_cast<std::ptrdiff_t>(i) * count; };
      const auto output = [&](int i) { return const_cast<T* const*>(array(i)); };
      check("diagonal_blocks", device::gemm_batched<T>(handle_, order, order, order, T(1), array(0), A_.ld, array(1),
                                                       V_.ld, T{}, output(2), order, count));
      check("diagonal_blocks", device::gemm_batched<T>(handle_, order, order, order, T(-1), array(3), V_.ld, array(2),
                                                       order, T{}, output(4), V_.ld, count));
    }
  }

  /// The same for the last block, whose second half may be smaller.
  void double_last(int first, int rest) {
    constexpr int order = diagonal_block;
    const bool lower = uplo_ == Uplo::Lower;
    const int r = lower ? first + order : first, c = lower ? first : first + order;
    const int m = lower ? rest : order, n = lower ? order : rest;
    check("diagonal_blocks", device::gemm<T>(handle_, Op::NoTrans, Op::NoTrans, m, n, n, T(1), element(A_, r, c), A_.ld,
                                             V_.element(c, c), V_.ld, T{}, products(), m));
    check("diagonal_blocks", device::gemm<T>(handle_, Op::NoTrans, Op::NoTrans, m, n, m, T(-1), V_.element(r, r), V_.ld,
                                             products(), m, T{}, V_.element(r, c), V_.ld));
  }

  /// Reads the largest elements of the blocks and of the inverses of each order. A sum of one element, since a copy
  /// would queue behind the tiles that are written back.
  void read_largest() {
    const device::ResultsInMemory mode(handle_);
    const auto read = [&](const T* x, Real<T>* result) {
      check("asum", device::sum_of_magnitudes<T>(handle_, 1, x, result));
    };
    const int j = (found_.blocks_index - 1) / V_.ld, i = j / V_.ld * V_.ld + (found_.blocks_index - 1) % V_.ld;
    if (i == j && diag_ == Diag::Unit) found_.blocks = 1;
    else read(element(A_, i, j), &found_.blocks);
    for (const int l : {0, 1})
      if (usable(l)) read(V_.data + found_.inverses_index[l] - 1, &found_.inverses[l]);
  }

  static T* products() { return static_cast<T*>(device::local_workspace()); }

  Tile<const T> A_;
  DiagonalBlocks<T> V_;
  Uplo uplo_;
  Diag diag_;
  cublasHandle_t handle_;
  Findings<T>& found_;
  std::size_t pointers_ = 0;  ///< that have been written
};

#endif

template <Scalar T>
struct InvertDiagonalBlocks {
  using Args = DiagonalBlocksArgs<T>;
#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& /*blas*/, void* buffers[], const Args& args) {
    set_inverses(starpu_task_get_current()->handles[1],
                 invert_diagonal_blocks(tile<const T>(buffers[0]), tile<T>(buffers[1]), args.uplo, args.diag));
  }
#endif
};

}  // namespace

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
Inverses invert_diagonal_blocks(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag) {
  return Inversion<T>(A, D, uplo, diag).run();
}
#define INSTANTIATE_INVERSION(T) \
  template Inverses invert_diagonal_blocks<T>(const Tile<const T>&, const Tile<T>&, Uplo, Diag);
INSTANTIATE_INVERSION(float)
INSTANTIATE_INVERSION(double)
INSTANTIATE_INVERSION(std::complex<float>)
INSTANTIATE_INVERSION(std::complex<double>)
#undef INSTANTIATE_INVERSION
#endif

template <Scalar T>
starpu_codelet& diagonal_blocks() {
  return codelet_for_gpus<InvertDiagonalBlocks<T>>("diagonal_blocks");
}
INSTANTIATE_FOR_ALL_TYPES(diagonal_blocks)

}  // namespace tessera::codelets
