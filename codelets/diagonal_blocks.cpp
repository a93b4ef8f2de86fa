// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include "codelet.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/invert_triangles.hpp"
#include "devices/cuda/magnitude.hpp"
#endif

namespace tessera::codelets {

namespace {

#ifdef TESSERA_WITH_CUDA

/// The magnitudes |Re| + |Im| of the largest elements. They are infinite or NaN if any element is.
struct Findings {
  double blocks = 0;        ///< in the diagonal blocks of double order
  double rest = 0;          ///< in the rest of the triangle
  double inverses[2] = {};  ///< in the inverses of each order

  explicit Findings(const device::cuda::Report& report) { std::memcpy(this, report.values.data(), sizeof *this); }
};
constexpr int findings = sizeof(Findings) / sizeof(double);
static_assert(findings <= device::cuda::Lane::most_values);

/// Decides from the Findings how trsm may use the inverses.
template <Scalar T>
Inverses judge(const Findings& found) {
  const double must_be_finite[] = {found.blocks, found.rest, found.inverses[0]};
  if (!std::ranges::all_of(must_be_finite, [](double x) { return std::isfinite(x); })) return {Inverses::NotFinite, 0};
  const auto growth = [&](int i) { return found.blocks * found.inverses[i]; };
  for (const int i : {1, 0})
    if (growth(i) <= accurate_growth[i]) return {Inverses::Accurate, diagonal_block << i};
  return {growth(0) <= refinable_growth<T> ? Inverses::ToRefine : Inverses::Refused, diagonal_block};
}

/// The inversion of the blocks on the diagonal of a tile.
template <Scalar T>
class Inversion {
 public:
  Inversion(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag)
      : A_(A), V_{D.data}, uplo_(uplo), diag_(diag) {}

  /// Computes the inverses of the blocks.
  /// @param report  receives the Findings
  /// @return  false if the tile is too large, after reporting a failure
  bool run(device::cuda::Report& report) {
    // Each pair of blocks needs five pointers.
    if (static_cast<std::size_t>(A_.n / (2 * diagonal_block) + 1) * 5 > device::cuda::Lane::most_pointers) {
      common::report_failure("diagonal_blocks on a GPU: a tile of order " + std::to_string(A_.n) + " is too large");
      return false;
    }
    device::check("diagonal_blocks", device::cuda::add_magnitudes_of_triangle<T>(
                                         lane_.stream, uplo_ == Uplo::Lower, diag_ == Diag::Unit, V_.ld, A_.m, A_.n,
                                         A_.data, A_.ld, lane_.values + offsetof(Findings, blocks) / sizeof(double),
                                         lane_.values + offsetof(Findings, rest) / sizeof(double)));
    invert_smallest();
    add_magnitude(0);
    double_order();
    add_magnitude(1);
    device::check("diagonal_blocks",
                  device::cuda::take_values(lane_.stream, lane_.values, findings, report.values.data()));
    return true;
  }

 private:
  static constexpr std::size_t inverses = offsetof(Findings, inverses) / sizeof(double);
  /// Adds the elements now in D to the findings for inverses of this order.
  void add_magnitude(std::size_t order) {
    device::check("diagonal_blocks", device::cuda::add_magnitude<T>(lane_.stream, V_.ld, A_.n, V_.data, V_.ld,
                                                                    lane_.values + inverses + order));
  }

  void clear() {
    device::check(
        "diagonal_blocks",
        device::cuda::clear(lane_.stream, V_.data, static_cast<std::size_t>(V_.ld) * static_cast<std::size_t>(A_.n)));
  }

  /// Writes arrays of pointers, see device::cuda::PointerArrays.
  void write_pointers(const device::cuda::PointerArrays& of, int arrays, int count) {
    device::check("diagonal_blocks", device::cuda::write_pointers(lane_.stream, of, arrays, count, lane_.pointers));
  }
  const T** pointers(int array, int count) const {
    return reinterpret_cast<const T**>(lane_.pointers) + static_cast<std::ptrdiff_t>(array) * count;
  }
  static std::ptrdiff_t bytes(const T* from, const T* to) {
    return reinterpret_cast<const std::byte*>(to) - reinterpret_cast<const std::byte*>(from);
  }

  /// Inverts the smallest blocks by substitution.
  void invert_smallest() {
    static_assert(device::cuda::inverted_order == diagonal_block);
    clear();
    device::check("diagonal_blocks",
                  device::cuda::invert_triangles<T>(lane_.stream, uplo_ == Uplo::Lower, diag_ == Diag::Unit, A_.n,
                                                    A_.data, A_.ld, V_.data, V_.ld));
  }

  /// Inverts the blocks of double order. The two diagonal halves of a block are already inverted, and the
  /// square off the diagonal follows from them: V(r, c) = −V(r, r) A(r, c) V(c, c).
  void double_order() {
    constexpr int order = diagonal_block;
    const int all = A_.n / (2 * order), rest = A_.n - all * 2 * order - order;  // rows of an incomplete second half
    const auto square = static_cast<std::size_t>(order) * order;
    const int fit = static_cast<int>(device::cuda::workspace_bytes / (square * sizeof(T)));
    for (int begin = 0; begin < all; begin += fit) {
      const int count = std::min(fit, all - begin), first = begin * 2 * order;
      const int r = uplo_ == Uplo::Lower ? first + order : first, c = uplo_ == Uplo::Lower ? first : first + order;
      const std::ptrdiff_t a = bytes(A_.data, element(A_, 2 * order, 2 * order)),
                           v = bytes(V_.data, V_.element(2 * order, 2 * order)),
                           p = static_cast<std::ptrdiff_t>(square * sizeof(T));
      write_pointers({{element(A_, r, c), V_.element(c, c), products(), V_.element(r, r), V_.element(r, c)},
                      {a, v, p, v, v},
                      {2 * a, 2 * v, 2 * p, 2 * v, 2 * v}},
                     5, count);
      const auto array = [&](int i) { return pointers(i, count); };
      const auto output = [&](int i) { return const_cast<T* const*>(array(i)); };
      device::check("diagonal_blocks",
                    device::cuda::gemm_batched<T>(lane_.handle, order, order, order, T(1), array(0), A_.ld, array(1),
                                                  V_.ld, T{}, output(2), order, count));
      device::check("diagonal_blocks",
                    device::cuda::gemm_batched<T>(lane_.handle, order, order, order, T(-1), array(3), V_.ld, array(2),
                                                  order, T{}, output(4), V_.ld, count));
    }
    if (rest > 0) double_last(all * 2 * order, rest);
  }

  /// Inverts the last block of double order, whose second half may be smaller.
  void double_last(int first, int rest) {
    constexpr int order = diagonal_block;
    const bool lower = uplo_ == Uplo::Lower;
    const int r = lower ? first + order : first, c = lower ? first : first + order;
    const int m = lower ? rest : order, n = lower ? order : rest;
    device::check("diagonal_blocks",
                  device::cuda::gemm<T>(lane_.handle, Op::NoTrans, Op::NoTrans, m, n, n, T(1), element(A_, r, c), A_.ld,
                                        V_.element(c, c), V_.ld, T{}, products(), m));
    device::check("diagonal_blocks",
                  device::cuda::gemm<T>(lane_.handle, Op::NoTrans, Op::NoTrans, m, n, m, T(-1), V_.element(r, r), V_.ld,
                                        products(), m, T{}, V_.element(r, c), V_.ld));
  }

  T* products() const { return static_cast<T*>(lane_.workspace); }

  Tile<const T> A_;
  DiagonalBlocks<T> V_;
  Uplo uplo_;
  Diag diag_;
  device::cuda::Lane& lane_ = device::cuda::local_lane();
};

#endif

template <Scalar T>
struct InvertDiagonalBlocks {
  using Args = DiagonalBlocksArgs;
#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const Tile<const T> square{A.data + args.first_row, std::min(A.m - args.first_row, A.n), A.n, A.ld};
    invert_diagonal_blocks<T>(square, tile<T>(buffers[1]), args.uplo, args.diag, starpu_task_get_current()->handles[1]);
  }
#endif
};

}  // namespace

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void invert_diagonal_blocks(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag,
                            starpu_data_handle_t blocks) {
  set_inverses(blocks, {Inverses::Refused, 0});
  auto& report = device::cuda::new_report();
  if (Inversion<T>(A, D, uplo, diag).run(report))
    device::when_complete([blocks, &report] { set_inverses(blocks, judge<T>(Findings(report))); });
}
template <Scalar T>
Inverses inverted_diagonal_blocks(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag) {
  auto& report = device::cuda::new_report();
  if (!Inversion<T>(A, D, uplo, diag).run(report)) return {Inverses::Refused, 0};
  device::check("diagonal_blocks", device::cuda::wait_for(device::cuda::local_stream()));
  return judge<T>(Findings(report));
}
#define INSTANTIATE_INVERSION(T)                                                                                   \
  template void invert_diagonal_blocks<T>(const Tile<const T>&, const Tile<T>&, Uplo, Diag, starpu_data_handle_t); \
  template Inverses inverted_diagonal_blocks<T>(const Tile<const T>&, const Tile<T>&, Uplo, Diag);
INSTANTIATE_INVERSION(float)
INSTANTIATE_INVERSION(double)
INSTANTIATE_INVERSION(std::complex<float>)
INSTANTIATE_INVERSION(std::complex<double>)
#undef INSTANTIATE_INVERSION
#endif

starpu_codelet& diagonal_blocks(char type) { return codelet_for_gpus<InvertDiagonalBlocks>(type, "diagonal_blocks"); }

}  // namespace tessera::codelets
