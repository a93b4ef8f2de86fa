// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "codelet.hpp"
#include "kernel.hpp"
#include "sum_slots.hpp"

/// trmm and trsm on one tile of a GPU as a sequence of products.
/// cuBLAS works through the diagonal of a triangle row by row. On an H200, trsm of 4096×4096 takes 3.2 ms and trmm 2.4
/// ms; a product with half of the flops of gemm could take 1.1 ms. If the blocks on the diagonal are available as full
/// matrices (`diagonal_blocks`: copies for trmm, inverses for trsm), both operations consist of products only and take
/// 1.8 ms. Recursion in halves without inverses was measured, too: it takes 2.7 ms, a gain of one seventh.
///
/// The error of trsm: let V be the computed inverse of a block, with |A V − I| ≤ c u |A||V|. The residual of the rows
/// of the block is bounded by c u |A||V||B|, instead of c u |A||X| (Higham, Accuracy and Stability, 2nd ed.,
/// section 14.2). The ratio of the two depends on the growth max|A| max|V| over all blocks of a tile, which
/// `diagonal_blocks` computes. Residuals measured with the same products on a CPU, for one block, in single and in
/// double precision:
///
/// - Growth up to `accurate_growth`: at most 7 times the residual of substitution, for factors L of LU (growth 2 to 3)
///   and for well-conditioned triangles; 23 times for a triangle constructed to be bad.
/// - Growth up to `refinable_growth`: one step of refinement, X ← X + V (B − A X), leaves a residual of c u |A||X|
///   while u growth² is small. The residual was at most 6 times that of substitution. Without refinement, it was 15
///   times that for factors U of LU, and up to 3000 times for triangles with a growth of 1000. Refinement takes two
///   more products for each block.
/// - Larger growth: substitution solves the tile.
///
/// Values that are not finite: the full blocks contain explicit zeros, and a zero times an infinity is NaN, also in
/// rows that do not depend on the infinity. Tiles with such values are computed row by row.
namespace tessera::codelets {

/// How trsm may use the inverses of a tile's diagonal blocks.
enum class Inverses : std::uintptr_t { Accurate, ToRefine, Refused, NotFinite };

inline constexpr double accurate_growth = 4;
template <Scalar T>
inline const double refinable_growth = 1 / std::sqrt(std::numeric_limits<Real<T>>::epsilon() / 2);

/// `diagonal_blocks` attaches this to its result.
inline void set_inverses(starpu_data_handle_t blocks, Inverses inverses) {
  starpu_data_set_user_data(blocks, reinterpret_cast<void*>(inverses));
}
inline Inverses inverses_of(starpu_data_handle_t blocks) {
  return static_cast<Inverses>(reinterpret_cast<std::uintptr_t>(starpu_data_get_user_data(blocks)));
}

#ifdef TESSERA_WITH_CUDA

/// Whether the sum of the magnitudes of all elements is finite. It is not if an element is infinite or NaN. Waits for
/// the stream.
template <Scalar T>
bool all_finite(const Tile<T>& A) {
  constexpr Index most = 1 << 30;  // cuBLAS counts in int
  const Index elements = static_cast<Index>(A.ld) * (A.n - 1) + A.m;
  for (Index first = 0; first < elements; first += most) {
    Real<T> sum{};
    check("asum",
          device::sum_of_magnitudes<T>(device::local_handle(), static_cast<int>(std::min(most, elements - first)),
                                       A.data + first, &sum));
    if (!std::isfinite(sum)) return false;
  }
  return true;
}

/// Whether all elements of B are finite before a blocked trmm or trsm, which returns its slot here. The `inspect` task
/// precedes it on B, so B has not changed since, and StarPU starts it only when the sum has arrived in host memory. If
/// there is no slot, waits for the stream.
template <Scalar T>
bool output_is_finite(void* buffers[], const TriangularArgs<T>& args) {
  if (args.sum == nullptr) return all_finite<T>(tile<T>(buffers[1]));
  const bool finite = std::isfinite(*args.sum);
  sum_slots::give_back(args.sum);
  return finite;
}

/// A tile of B, the triangular tile that is applied to it, and the operands of the products. "Rows" of B are its rows
/// if the triangle is on the left, and its columns if it is on the right. s counts the blocks in the order in which
/// trsm solves them.
template <Scalar T>
class TriangularBlocks {
 public:
  /// @param order  order of the blocks: `diagonal_block`, or 1 to compute row by row
  TriangularBlocks(void* buffers[], const TriangularArgs<T>& args, int order)
      : args_(args), order_(order), A_(tile<const T>(buffers[0])), B_(tile<T>(buffers[1])),
        D_(tile<const T>(buffers[2])), W_(tile<T>(buffers[3])), left_(args.side == Side::Left),
        forward_(((args.uplo == Uplo::Lower) != (args.op != Op::NoTrans)) == left_), handle_(device::local_handle()) {}

  int count() const { return (A_.n + order_ - 1) / order_; }

  /// B(s) ← α A(s, p) B(p) + β B(s), where p are all blocks before s
  void add_products(int s, T alpha, T beta) const {
    const int first = first_row(s), rows = order(s);
    const int begin = forward_ ? 0 : first + rows, terms = forward_ ? first : A_.n - begin;
    if (terms == 0) return;
    const auto op = args_.op;
    if (left_) {
      check("gemm", device::gemm<T>(handle_, op, Op::NoTrans, rows, B_.n, terms, alpha,
                                    op == Op::NoTrans ? a(first, begin) : a(begin, first), A_.ld, b(begin), B_.ld, beta,
                                    b(first), B_.ld));
    } else {
      check("gemm",
            device::gemm<T>(handle_, Op::NoTrans, op, B_.m, rows, terms, alpha, b(begin), B_.ld,
                            op == Op::NoTrans ? a(begin, first) : a(first, begin), A_.ld, beta, b(first), B_.ld));
    }
  }

  /// B(s) ← α D(s) B(s), where D(s) is the first block of `diagonal_blocks` for s: a copy or an inverse
  void multiply_diagonal(int s, T alpha) const {
    const auto [m, n] = extent(s);
    T* const x = b(first_row(s));
    check("copy", device::scale<T>(handle_, m, n, T(1), x, B_.ld, W_.data, m));
    multiply(s, 0, alpha, W_.data, m, T{}, x, B_.ld);
  }

  /// B(s) ← B(s) + D(s) (α C − A(s, s) B(s)), where D(s) is the inverse from `diagonal_blocks`, and C the value of B(s)
  /// before `multiply_diagonal`.
  void refine_diagonal(int s, T alpha) const {
    T* const x = b(first_row(s));
    const int m = extent(s).m;
    multiply(s, A_.n, T(-1), x, B_.ld, alpha, W_.data, m);
    multiply(s, 0, T(1), W_.data, m, T(1), x, B_.ld);
  }

  /// B(s) ← α A(s, s) B(s) or α A(s, s)⁻¹ B(s), with the triangle of A itself instead of D
  /// @param kernel  cuBLAS's trmm or trsm
  template <typename Kernel>
  void apply_diagonal(Kernel kernel, int s, T alpha) const {
    const int first = first_row(s);
    const auto [m, n] = extent(s);
    check("trmm or trsm", kernel(handle_, args_.side, args_.uplo, args_.op, args_.diag, m, n, alpha, a(first, first),
                                 A_.ld, b(first), B_.ld));
  }

 private:
  struct Extent {
    int m, n;
  };
  int first_row(int s) const { return (forward_ ? s : count() - 1 - s) * order_; }
  int order(int s) const { return std::min(order_, A_.n - first_row(s)); }
  /// Rows and columns of B(s) in memory.
  Extent extent(int s) const { return left_ ? Extent{order(s), B_.n} : Extent{B_.m, order(s)}; }

  /// Y ← α D(s) X + β Y
  /// @param column  column of D at which its first block begins
  void multiply(int s, int column, T alpha, const T* X, int ldx, T beta, T* Y, int ldy) const {
    const auto [m, n] = extent(s);
    const T* const d = D_.data + static_cast<Index>(column + first_row(s)) * D_.ld;
    if (left_)
      check("gemm", device::gemm<T>(handle_, args_.op, Op::NoTrans, m, n, m, alpha, d, D_.ld, X, ldx, beta, Y, ldy));
    else check("gemm", device::gemm<T>(handle_, Op::NoTrans, args_.op, m, n, n, alpha, X, ldx, d, D_.ld, beta, Y, ldy));
  }
  const T* a(int i, int j) const { return A_.data + i + static_cast<Index>(j) * A_.ld; }
  T* b(int k) const { return left_ ? B_.data + k : B_.data + static_cast<Index>(k) * B_.ld; }

  const TriangularArgs<T>& args_;
  int order_;
  Tile<const T> A_;
  Tile<T> B_;
  Tile<const T> D_;
  Tile<T> W_;
  bool left_, forward_;
  cublasHandle_t handle_;
};

#endif

}  // namespace tessera::codelets
