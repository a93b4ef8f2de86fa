// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "codelet.hpp"
#include "kernel.hpp"

/// trmm and trsm on one tile of a GPU as a sequence of products.
///
/// cuBLAS works through the diagonal of a triangle row by row: on an H200, trsm of 4096×4096 takes 3.2 ms and trmm 2.4
/// ms where a product with half of the flops of gemm could take 1.1. With the blocks on the diagonal at hand as full
/// matrices (`diagonal_blocks`: copies for trmm, inverses for trsm) both are products only, in 1.8 ms; recursion in
/// halves without inverses was measured, too, and gains a seventh (2.7 ms).
///
/// The error of trsm: with |V A − I| ≤ c u |V||A| for the inverse V of a block, the residual of the rows of the block
/// is bounded by c u |A||V||B| instead of c u |A||X| (Higham, Accuracy and Stability, 2nd ed., section 14.2): by up to
/// the condition of the block worse. `diagonal_blocks` refuses inverses for a tile where max|A| max|V|, over all of
/// its blocks, exceeds `largest_growth`; it is then solved by substitution.
namespace tessera::codelets {

inline constexpr double largest_growth = 1000;

/// Set by `diagonal_blocks` on its result.
inline void refuse_inverses(starpu_data_handle_t blocks) { starpu_data_set_user_data(blocks, blocks); }
inline bool inverses_refused(starpu_data_handle_t blocks) { return starpu_data_get_user_data(blocks) != nullptr; }

#ifdef TESSERA_WITH_CUDA

/// A tile of B, the triangular tile that is applied to it, and what the products need. Rows of B are meant if the
/// triangle is on the left, columns if it is on the right; s counts blocks in the order in which trsm solves them.
template <Scalar T>
class TriangularBlocks {
 public:
  TriangularBlocks(void* buffers[], const TriangularArgs<T>& args)
      : args_(args), A_(tile<const T>(buffers[0])), B_(tile<T>(buffers[1])), D_(tile<const T>(buffers[2])),
        W_(tile<T>(buffers[3])), left_(args.side == Side::Left),
        forward_(((args.uplo == Uplo::Lower) != (args.op != Op::NoTrans)) == left_), handle_(device::local_handle()) {}

  int count() const { return (A_.n + diagonal_block - 1) / diagonal_block; }

  /// B(s) ← α A(s, all before) B(all before) + β B(s)
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

  /// B(s) ← α D(s) B(s)
  void multiply_diagonal(int s, T alpha) const {
    const int first = first_row(s), rows = order(s), m = left_ ? rows : B_.m, n = left_ ? B_.n : rows;
    const T* const d = D_.data + static_cast<Index>(first) * D_.ld;
    check("copy", device::scale<T>(handle_, m, n, T(1), b(first), B_.ld, W_.data, m));
    if (left_)
      check("gemm", device::gemm<T>(handle_, args_.op, Op::NoTrans, rows, n, rows, alpha, d, D_.ld, W_.data, m, T{},
                                    b(first), B_.ld));
    else
      check("gemm", device::gemm<T>(handle_, Op::NoTrans, args_.op, m, rows, rows, alpha, W_.data, m, d, D_.ld, T{},
                                    b(first), B_.ld));
  }

 private:
  int first_row(int s) const { return (forward_ ? s : count() - 1 - s) * diagonal_block; }
  int order(int s) const { return std::min(diagonal_block, A_.n - first_row(s)); }
  const T* a(int i, int j) const { return A_.data + i + static_cast<Index>(j) * A_.ld; }
  T* b(int k) const { return left_ ? B_.data + k : B_.data + static_cast<Index>(k) * B_.ld; }

  const TriangularArgs<T>& args_;
  Tile<const T> A_;
  Tile<T> B_;
  Tile<const T> D_;
  Tile<T> W_;
  bool left_, forward_;
  cublasHandle_t handle_;
};

#endif

}  // namespace tessera::codelets
