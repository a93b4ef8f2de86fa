// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "blocked_triangle.hpp"
#include "codelet.hpp"
#include "kernel.hpp"
#include "memory/sum_slots.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/magnitude.hpp"
#endif

/// trmm and trsm on one tile, on a GPU, as a sequence of products. cuBLAS would compute the diagonal blocks row by row,
/// except in a trmm whose result is separate from its operands. Here, trmm copies a block of B and multiplies the copy,
/// and trsm multiplies by the inverses of the diagonal blocks of A, which `diagonal_blocks` computes once for a row of
/// tiles of B. Larger blocks make trsm faster, but take longer to invert.
///
/// The error of trsm: let V be the computed inverse of a block, with |A V − I| ≤ c u |A||V|. In the rows of the block,
/// the residual is bounded by c u |A||V||B|; for substitution, the bound is c u |A||X| (Higham, Accuracy and Stability,
/// 2nd ed., section 14.2). The ratio of the two bounds depends on the growth, max|A| max|V| over all blocks of a tile,
/// which `diagonal_blocks` computes for blocks of each order. It takes max|A| over the larger blocks, so the growth is
/// only an upper bound for the smaller ones. How trsm uses the inverses depends on the growth:
///
/// - Up to `accurate_growth`, the residual is close to that of substitution. trsm uses the largest blocks with such a
///   growth; smaller blocks need no separate inverses, because the inverse of a block contains those of its diagonal
///   blocks. If `forward` is false, the sums of a row of op(V) begin with the diagonal term. Every later addition then
///   rounds a sum as large as that term, and the residual grows like the square root of the order, so trsm uses the
///   smallest blocks.
/// - Up to `refinable_growth`, one step of refinement, X ← X + V (B − A X), leaves a residual of c u |A||X| as long as
///   u growth² is small. This step takes two more products for each of the smallest blocks.
/// - With larger growth, the tile is solved by substitution.
///
/// Tiles with infinities or NaN are computed row by row, because the products multiply by explicit zeros, and zero
/// times infinity is NaN, even in rows that do not depend on the infinity.
namespace tessera::codelets {

/// How trsm may use the inverses of a tile's diagonal blocks.
struct Inverses {
  enum Use : std::uintptr_t { Refused, Accurate, ToRefine, NotFinite } use;  ///< Refused also if there are none
  int order;  ///< order of the blocks, if they are Accurate or ToRefine
};

/// The largest growth at which products with an inverse are accurate, for blocks of order `diagonal_block` and of twice
/// this order.
inline constexpr double accurate_growth[] = {4, 2};
template <Scalar T>
inline const double refinable_growth = 1 / std::sqrt(std::numeric_limits<Real<T>>::epsilon() / 2);

/// `diagonal_blocks` and `getrf` attach this to their result. A tile without it has no inverses.
inline void set_inverses(starpu_data_handle_t blocks, const Inverses& inverses) {
  starpu_data_set_user_data(blocks,
                            reinterpret_cast<void*>(static_cast<std::uintptr_t>(inverses.order) * 4 + inverses.use));
}
inline Inverses inverses_of(starpu_data_handle_t blocks) {
  const auto value = reinterpret_cast<std::uintptr_t>(starpu_data_get_user_data(blocks));
  return {static_cast<Inverses::Use>(value % 4), static_cast<int>(value / 4)};
}

/// The result of `diagonal_blocks`: diagonal squares of a triangle, side by side.
template <typename T>
struct DiagonalBlocks {
  static constexpr int ld = 2 * diagonal_block;  ///< order of the squares; the last one may be smaller
  T* data;

  /// @pre row i and column j of the triangle lie in the same square
  T* element(int i, int j) const { return data + i % ld + static_cast<Index>(j) * ld; }
};

#ifdef TESSERA_WITH_CUDA

/// Whether all elements are finite. Ignores the elements between the columns: in a panel, they belong to other rows.
/// Waits for the stream.
template <Scalar T>
bool all_finite(const Tile<T>& A) {
  if (A.m == 0 || A.n == 0) return true;
  const auto& lane = device::cuda::local_lane();
  auto* const largest = static_cast<double*>(lane.results);
  device::check("inspection", device::cuda::add_magnitude<T>(lane.stream, A.m, A.n, A.data, A.ld, lane.values));
  device::check("inspection", device::cuda::take_value(lane.stream, lane.values, largest));
  device::check("inspection", device::cuda::wait_for(lane.stream));
  return std::isfinite(*largest);
}

/// Whether all elements of B are finite before a blocked trmm or trsm. Returns the task's slot to the pool. B has not
/// changed since the sum in the slot was computed, because the task that wrote the sum precedes this task on B, and
/// StarPU starts this task only after the sum has arrived in host memory. If there is no slot, waits for the stream.
template <Scalar T>
bool output_is_finite(const Tile<T>& B, const TriangularArgs& args) {
  if (args.spreads) return true;  // allowed to spread, so there is nothing to check
  if (args.sum == nullptr) return all_finite<T>(B);
  const bool finite = std::isfinite(*static_cast<const Real<T>*>(args.sum));
  memory::sum_slots::give_back(args.sum);
  return finite;
}

/// cuBLAS's trmm or trsm, in place.
template <Scalar T>
using InPlace = device::cuda::BlasStatus (*)(device::cuda::Handle, Side, Uplo, Op, Diag, int m, int n, T alpha,
                                             const T* A, int lda, T* B, int ldb);

/// A tile of B and the triangular tile that is applied to it.
template <Scalar T>
class TriangularBlocks : public BlockedTriangle<T, device::OnDevice> {
  using Base = BlockedTriangle<T, device::OnDevice>;

 public:
  TriangularBlocks(const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B)
      : Base(device::OnDevice{}, args, A, B) {}

  using Base::forward, Base::solve, Base::multiply;

  /// B ← α op(A)⁻¹ B, if the inverses are accurate enough.
  /// @return  whether they are, so that B has been computed
  bool solve_by(const Tile<const T>& inverses, const Inverses& found) const {
    if (found.use == Inverses::Refused || found.use == Inverses::NotFinite) return false;
    const DiagonalBlocks<const T> blocks{inverses.data};
    solve(forward() ? found.order : diagonal_block, [&](const Range& rows, T alpha) {
      multiply_by_inverse(blocks, rows, alpha, found.use == Inverses::ToRefine);
    });
    return true;
  }

  /// B ← α op(A) B, on copies of blocks of B.
  void multiply_copies() const {
    constexpr int copied_rows = 2048;  // rows copied at a time
    multiply(copied_rows, [&](const Range& rows, T alpha) { multiply_by_triangle(rows, alpha); });
  }

  /// B(rows) ← α op(A(rows, rows)) B(rows)
  void multiply_by_triangle(const Range& rows, T alpha) const {
    for_each_chunk(rows, 1, [&](T* x, int m, int n, T* copy) {
      device::check("copy", device::cuda::scale<T>(handle_, m, n, T(1), x, B_.ld, copy, m));
      device::check("trmm", device::cuda::trmm<T>(handle_, args_.side, args_.uplo, args_.op, args_.diag, m, n, alpha,
                                                  a(rows.first, rows.first), A_.ld, copy, m, x, B_.ld));
    });
  }

  /// B(rows) ← X = α op(V) B(rows), where V is the inverse of A(rows, rows). With `refine`, then X ← X + op(V) (α B −
  /// op(A) X), where B is the value before.
  void multiply_by_inverse(const DiagonalBlocks<const T>& inverses, const Range& rows, T alpha, bool refine) const {
    for_each_chunk(rows, refine ? 2 : 1, [&](T* x, int m, int n, T* copy) {
      device::check("copy", device::cuda::scale<T>(handle_, m, n, T(1), x, B_.ld, copy, m));
      apply_inverse(inverses, rows, m, n, alpha, copy, T{}, x);
      if (!refine) return;
      T* const rest = copy + static_cast<Index>(m) * n;
      device::check("trmm", device::cuda::trmm<T>(handle_, args_.side, args_.uplo, args_.op, args_.diag, m, n, T(-1),
                                                  a(rows.first, rows.first), A_.ld, x, B_.ld, rest, m));
      device::check("add", device::cuda::geam<T>(handle_, m, n, alpha, copy, m, T(1), rest, m, rest, m));
      apply_inverse(inverses, rows, m, n, T(1), rest, T(1), x);
    });
  }

  /// B(rows) ← α op(A(rows, rows)) B(rows) or α op(A(rows, rows))⁻¹ B(rows)
  /// @param kernel  cuBLAS's trmm or trsm
  void apply_in_place(InPlace<T> kernel, const Range& rows, T alpha) const {
    device::check("trmm or trsm", kernel(handle_, args_.side, args_.uplo, args_.op, args_.diag, this->m(rows),
                                         this->n(rows), alpha, a(rows.first, rows.first), A_.ld, b(rows.first), B_.ld));
  }

 private:
  /// Y ← α op(V) X + β Y (Left) or α X op(V) + β Y (Right). V is the inverse of the diagonal block of these rows. X has
  /// no gaps between columns, and Y is a part of B. Uses gemm, which also multiplies by the zeros of V, because up to
  /// order 512, cuBLAS's trmm is not faster.
  void apply_inverse(const DiagonalBlocks<const T>& inverses, const Range& rows, int m, int n, T alpha, const T* X,
                     T beta, T* Y) const {
    const T* const V = inverses.element(rows.first, rows.first);
    if (left_)
      device::check("gemm", device::cuda::gemm<T>(handle_, args_.op, Op::NoTrans, m, n, m, alpha, V, inverses.ld, X, m,
                                                  beta, Y, B_.ld));
    else
      device::check("gemm", device::cuda::gemm<T>(handle_, Op::NoTrans, args_.op, m, n, n, alpha, X, m, V, inverses.ld,
                                                  beta, Y, B_.ld));
  }

  /// Cuts B(rows) into parts small enough that the workspace holds `copies` copies. Calls body(part, m, n, workspace)
  /// for each.
  template <typename Body>
  void for_each_chunk(const Range& rows, int copies, Body body) const {
    const int others = left_ ? B_.n : B_.m;
    const int fit = static_cast<int>(
        std::clamp<Index>(Index{device::cuda::workspace_bytes / sizeof(T)} / copies / rows.count, 1, others));
    auto* const workspace = static_cast<T*>(device::cuda::local_workspace());
    for (int first = 0; first < others; first += fit) {
      const int count = std::min(fit, others - first);
      T* const part = b(rows.first) + (left_ ? static_cast<Index>(first) * B_.ld : first);
      body(part, left_ ? rows.count : count, left_ ? count : rows.count, workspace);
    }
  }

  using Base::a, Base::b, Base::args_, Base::A_, Base::B_, Base::left_;
  device::cuda::Handle handle_ = this->blas_.handle;
};

/// B ← α op(A)⁻¹ B, by products if the inverses of the diagonal blocks are accurate enough, and row by row if values
/// are not finite.
/// @param blocks  the handle of the inverses, or null if the task is not blocked
template <Scalar T>
void solve_on_device(const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B, starpu_data_handle_t blocks,
                     const Tile<const T>& inverses) {
  if (blocks != nullptr) {
    const auto found = inverses_of(blocks);
    const bool by_rows = !output_is_finite(B, args) || (found.use == Inverses::NotFinite && !args.spreads);
    const TriangularBlocks<T> by_blocks(args, A, B);
    if (by_rows)
      return by_blocks.solve(
          1, [&](const Range& row, T alpha) { by_blocks.apply_in_place(device::cuda::trsm<T>, row, alpha); });
    if (by_blocks.solve_by(inverses, found)) return;
  }
  device::check("trsm", device::cuda::trsm<T>(device::cuda::local_handle(), args.side, args.uplo, args.op, args.diag,
                                              B.m, B.n, T(args.alpha), A.data, A.ld, B.data, B.ld));
}

/// B ← α op(A) B, on copies of blocks of B if the task is blocked, and row by row if values are not finite.
template <Scalar T>
void multiply_on_device(const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B) {
  if (args.blocked) {
    const TriangularBlocks<T> by_blocks(args, A, B);
    if (output_is_finite(B, args)) return by_blocks.multiply_copies();
    return by_blocks.multiply(
        1, [&](const Range& row, T alpha) { by_blocks.apply_in_place(device::cuda::trmm<T>, row, alpha); });
  }
  device::check("trmm", device::cuda::trmm<T>(device::cuda::local_handle(), args.side, args.uplo, args.op, args.diag,
                                              B.m, B.n, T(args.alpha), A.data, A.ld, B.data, B.ld));
}

/// D ← the inverses of the diagonal blocks of A, in a tile registered as for `diagonal_blocks`.
/// @param blocks  the handle of D. Before the task ends, `set_inverses` records in it how trsm may use the inverses
template <Scalar T>
void invert_diagonal_blocks(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag,
                            starpu_data_handle_t blocks);

/// D ← the inverses of the diagonal blocks of A, for use within the same task. Waits for the stream.
/// @return  how trsm may use the inverses
template <Scalar T>
Inverses inverted_diagonal_blocks(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag);

#endif

}  // namespace tessera::codelets
