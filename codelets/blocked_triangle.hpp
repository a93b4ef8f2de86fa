// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "codelet.hpp"
#include "devices/kernel_tile.hpp"

namespace tessera::codelets {

using device::Tile;

/// Rows [first, first + count) of B if the triangle is on the left, or columns of B if it is on the right. Below, both
/// are called "rows".
struct Range {
  int first, count;
};

/// trmm and trsm on one tile, as operations with diagonal blocks of the triangle and products between them. The tile is
/// halved recursively, down to a block, with one product between the halves, so that products are as large as possible.
/// @tparam Blas  a class with a function `gemm`
template <Scalar T, typename Blas>
class BlockedTriangle {
 public:
  BlockedTriangle(const Blas& blas, const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B)
      : blas_(blas), args_(args), A_(A), B_(B), left_(args.side == Side::Left),
        forward_(((args.uplo == Uplo::Lower) != (args.op != Op::NoTrans)) == left_) {}

  /// Whether a row depends on earlier rows. If not, it depends on later rows.
  bool forward() const { return forward_; }

  /// B ← α op(A)⁻¹ B
  /// @param order     the order of the blocks
  /// @param on_block  is called with a Range and a factor, and computes B(rows) ← factor op(A(rows, rows))⁻¹ B(rows)
  template <typename OnBlock>
  void solve(int order, OnBlock on_block) const {
    solve_rows(all(), order, T(args_.alpha), on_block);
  }

  /// B ← α op(A) B
  /// @param on_block  is called with a Range and a factor, and computes B(rows) ← factor op(A(rows, rows)) B(rows)
  template <typename OnBlock>
  void multiply(int order, OnBlock on_block) const {
    multiply_rows(all(), order, on_block);
  }

 protected:
  const T* a(int i, int j) const { return A_.data + i + static_cast<Index>(j) * A_.ld; }
  T* b(int k) const { return left_ ? B_.data + k : B_.data + static_cast<Index>(k) * B_.ld; }
  /// All rows. At the edge of a rectangular matrix, the tile of A may have more rows or columns than the triangle.
  Range all() const { return {0, left_ ? B_.m : B_.n}; }
  /// B(rows) is an m×n matrix.
  int m(const Range& rows) const { return left_ ? rows.count : B_.m; }
  int n(const Range& rows) const { return left_ ? B_.n : rows.count; }

  Blas blas_;
  const TriangularArgs& args_;
  Tile<const T> A_;
  Tile<T> B_;
  bool left_, forward_;

 private:
  struct Halves {
    Range before, after;  ///< `after` depends on `before` in a product with A
  };
  /// Cuts a range in two. The first part has a number of blocks that is a power of two.
  Halves halves(const Range& rows, int order) const {
    int count = order;
    while (2 * count < rows.count) count *= 2;
    const Range low{rows.first, count}, high{rows.first + count, rows.count - count};
    return forward_ ? Halves{low, high} : Halves{high, low};
  }

  template <typename OnBlock>
  void solve_rows(const Range& rows, int order, T alpha, const OnBlock& on_block) const {
    if (rows.count <= order) return on_block(rows, alpha);
    const auto [before, after] = halves(rows, order);
    solve_rows(before, order, alpha, on_block);
    add_product(after, before, T(-1), alpha);
    solve_rows(after, order, T(1), on_block);
  }

  /// Works from the last block to the first, so that a block is overwritten only after all blocks that need it.
  template <typename OnBlock>
  void multiply_rows(const Range& rows, int order, const OnBlock& on_block) const {
    if (rows.count <= order) return on_block(rows, T(args_.alpha));
    const auto [before, after] = halves(rows, order);
    multiply_rows(after, order, on_block);
    add_product(after, before, T(args_.alpha), T(1));
    multiply_rows(before, order, on_block);
  }

  /// B(to) ← α op(A)(to, from) B(from) + β B(to)
  void add_product(const Range& to, const Range& from, T alpha, T beta) const {
    const auto op = args_.op;
    const bool as_stored = (op == Op::NoTrans) == left_;
    const T* const factor = as_stored ? a(to.first, from.first) : a(from.first, to.first);
    const T* const x = b(from.first);
    if (left_)
      blas_.gemm(op, Op::NoTrans, to.count, B_.n, from.count, alpha, factor, A_.ld, x, B_.ld, beta, b(to.first), B_.ld);
    else
      blas_.gemm(Op::NoTrans, op, B_.m, to.count, from.count, alpha, x, B_.ld, factor, A_.ld, beta, b(to.first), B_.ld);
  }
};

}  // namespace tessera::codelets
