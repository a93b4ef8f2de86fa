// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

#include "algorithms/pivot_tiles.hpp"
#include "codelets/codelet.hpp"
#include "common/blocks.hpp"
#include "conformable.hpp"
#include "on_host.hpp"
#include "plan/plans.hpp"
#include "tile/tile_grid.hpp"

/// Shared parts of the routines on panels.
namespace tessera::routines {

/// @throws ArgumentError if A is transposed
template <Scalar T>
void require_stored(const MatrixArgument& which, const Matrix<T>& A) {
  if (A.op() != Op::NoTrans)
    throw ArgumentError(which.routine, which.position, which.name, "is a transposed view, must not be transposed");
}

/// @throws ShapeError if A has more rows of tiles than one task can access
template <Scalar T>
void require_few_rows_of_tiles(const MatrixArgument& which, const Matrix<T>& A) {
  static_assert(tile::most_tiles_of_panel == codelets::most_tile_rows);
  if (A.mt() > tile::most_tiles_of_panel)
    throw ShapeError(which.routine, which.position, which.name,
                     "has " + std::to_string(A.mt()) + " rows of tiles, must have at most " +
                         std::to_string(tile::most_tiles_of_panel));
}

/// @throws ShapeError if several processes own the tiles of a column
template <Scalar T>
void require_whole_columns(const MatrixArgument& which, const Matrix<T>& A) {
  const auto& share = detail::MatrixAccess::grid(A).share();
  if (share.p > 1 && A.mt() > 1)
    throw ShapeError(which.routine, which.position, which.name,
                     "has its columns distributed over " + std::to_string(share.p) +
                         " processes, must have each column in one process");
}

/// @throws ArgumentError, ShapeError if A is transposed, or not in panels
template <Scalar T>
void require_panels(const MatrixArgument& which, const Matrix<T>& A) {
  require_stored(which, A);
  require_whole_columns(which, A);
  if (A.mt() > 1 && A.mb() % A.nb() != 0)
    throw ShapeError(which.routine, which.position, which.name,
                     "has tiles of " + std::to_string(A.mb()) + "x" + std::to_string(A.nb()) +
                         ", must have tiles of all rows, or of a multiple of as many rows as columns");
  require_few_rows_of_tiles(which, A);
}

/// @throws ArgumentError, ShapeError if A is transposed, or not in panels of full height
template <Scalar T>
void require_full_panels(const MatrixArgument& which, const Matrix<T>& A) {
  require_panels(which, A);
  if (A.mt() > 1)
    throw ShapeError(which.routine, which.position, which.name,
                     "has " + std::to_string(A.mt()) + " rows of tiles, must have one: tiles with all rows");
}

template <Scalar T>
algorithms::Plan panels_of(const Matrix<T>& A) {
  const auto& machine = detail::MatrixAccess::session(A).machine();
  const tile::TileExtents tile{A.mb(), A.nb(), A.nb()};
  const auto& share = detail::MatrixAccess::grid(A).share();
  if (!share.is_distributed())  // beside CUDA GPUs, OpenCL devices take no panels
    return plan::plan_panels(machine, type_letter<T>, A.m(), A.n(), tile, machine.cuda_gpus);
  // The plan must be the same in all processes. Each has panels [j, n) with j mod q.
  const auto model = share.processes->model();
  machine::Machine of_process = machine;
  of_process.gpu_memory = model.gpu_memory;
  auto plan =
      plan::plan_panels(of_process, type_letter<T>, A.m(), tile::divide_up(A.n(), Index{share.q}), tile, model.gpus);
  plan.together *= share.q;
  plan.gpus = 0;
  return plan;
}

/// @throws ShapeError if the pivots cannot belong to a factorization of A
template <Scalar T>
void require_pivots_of(const char* routine, int position, const detail::PivotTiles& pivots, const Matrix<T>& A) {
  if (pivots.rows() != A.m() || pivots.columns() != A.n() || (A.n() > 0 && pivots.panel() != A.nb()))
    throw ShapeError(routine, position, "pivots", "belong to a matrix of another size or with other panels");
}

/// A column-major form of a matrix on pointers. A row-major matrix is copied, and copied back at the end.
template <Scalar T>
class ColumnMajorCopy {
 public:
  ColumnMajorCopy(Layout layout, T* data, Index m, Index n, Index ld)
      : data_(data), m_(m), n_(n), ld_(ld), copied_(layout == Layout::RowMajor) {
    if (!copied_) return;
    copy_.resize(static_cast<std::size_t>(m * n));
    for_each(HostUse::Reads, [](T& row_major, T& column_major) { column_major = row_major; });
  }

  T* data() { return copied_ ? copy_.data() : data_; }
  Index ld() const { return copied_ ? std::max<Index>(1, m_) : ld_; }
  void copy_back() {
    if (copied_) for_each(HostUse::Writes, [](T& row_major, T& column_major) { row_major = column_major; });
  }

 private:
  template <typename Copy>
  void for_each(HostUse use, Copy copy) {
    OnHost<T> rows(data_, n_, m_, ld_, use);
    common::for_each_in_blocks(n_, m_, [&, data = rows.data(), ld = rows.ld()](Index j, Index i) {
      copy(data[i * ld + j], copy_[static_cast<std::size_t>(i + j * m_)]);
    });
    rows.finish();
  }

  T* data_;
  Index m_, n_, ld_;
  bool copied_;
  std::vector<T> copy_;
};

/// The exchanges of laswp: row i, k1 ≤ i ≤ k2, with row of(i), both counted from 1. They are made in the order of i, or
/// in reverse order if `incx` is negative. If `incx` is 0, there are none.
template <typename Int>
struct RowPairs {
  Index k1, k2;
  const Int* ipiv;
  Index incx;

  bool empty() const { return incx == 0 || k2 < k1; }
  Index of(Index i) const { return static_cast<Index>(ipiv[k1 - 1 + (i - k1) * std::abs(incx)]); }
  /// Calls exchange(i, of(i)), counted from 0, in the order of the exchanges.
  template <typename Exchange>
  void for_each(Exchange exchange) const {
    if (empty()) return;
    for (Index x = k1; x <= k2; x++) {
      const Index i = incx > 0 ? x : k1 + k2 - x;
      if (of(i) != i) exchange(i - 1, of(i) - 1);
    }
  }
};

/// Exchanges rows of a matrix with n columns, in the calling thread.
template <Scalar T, typename Int>
void exchange_rows(Layout layout, Index n, T* A, Index lda, const RowPairs<Int>& pairs) {
  if (layout == Layout::RowMajor)
    return pairs.for_each([&](Index i, Index k) { std::swap_ranges(A + i * lda, A + i * lda + n, A + k * lda); });
  for (Index j = 0; j < n; j++)  // column by column, because a column stays in the cache
    pairs.for_each([column = A + j * lda](Index i, Index k) { std::swap(column[i], column[k]); });
}

}  // namespace tessera::routines
