// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "devices/row_moves.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

using device::PivotTile;

#ifdef TESSERA_WITH_CUDA

/// The factorization of a panel on a GPU, P A = L U with partial pivoting.
///
/// The factorization is recursive: it factorizes the left half, updates the right half, and factorizes the right half.
/// The leaves of the recursion are a few columns, which are factorized in registers.
template <Scalar T>
class PanelFactorization {
 public:
  /// @param A       the panel, from the first row of its diagonal block on; only its shape is used until `run`
  /// @param pivots  the panel's PivotTile
  /// @param info    pinned: 0 before; receives the first i, counted from 1, for which no pivot is usable
  /// @pre  local_solver() has started
  PanelFactorization(const Tile<T>& A, int* pivots, int* info) : A_(A), pivots_(pivots), info_(info) {}

  /// Empty if it is unknown, which has been reported as a failure.
  std::optional<std::size_t> workspace_bytes() const {
    if (width_ > 0) return static_cast<std::size_t>(A_.m + leaf_ints() * all_leaves()) * sizeof(int);
    int elements = 0;
    if (!device::check("getrf",
                       device::cuda::getrf_workspace<T>(solver_.handle, A_.m, A_.n, A_.data, A_.ld, &elements)))
      return std::nullopt;
    return static_cast<std::size_t>(elements) * sizeof(T);
  }

  /// Factorizes the panel.
  /// @param data       the elements of the panel
  /// @param workspace  device memory
  void run(T* data, void* workspace) {
    A_.data = data;
    if (width_ == 0) return run_by_library(static_cast<T*>(workspace));
    origin_ = static_cast<int*>(workspace);
    moves_ = origin_ + A_.m;
    clear(moves_, leaf_ints() * all_leaves());
    for (int b = 0; b < PivotTile::batches(order()); b++) clear(PivotTile::moves(pivots_, order(), b).count, 1);
    device::check("set_origins", device::cuda::set_origins(stream_, origin_, A_.m));
    factorize(0, order());
    if (A_.n > order()) update(0, order(), A_.n - order());
  }

 private:
  int order() const { return std::min(A_.m, A_.n); }

  /// Factorizes columns [begin, begin + n).
  void factorize(int begin, int n) {
    if (n <= width_) return factorize_leaf(begin, n);
    const int leaves = (n + width_ - 1) / width_, left = (leaves + 1) / 2 * width_;
    factorize(begin, left);
    update(begin, left, n - left);
    factorize(begin + left, n - left);
  }

  void factorize_leaf(int begin, int n) {
    const device::cuda::Leaf<T> leaf{
        A_.data, A_.ld, A_.m, A_.n, begin, n, pivots_, origin_, moves_ + leaves_ * leaf_ints(), info_};
    device::check("getrf",
                  device::cuda::factorize_leaf(stream_, leaf, solver_.exchange, next_epoch(solver_), multiprocessors_));
    leaves_++;
    const int end = begin + n;
    if (end % PivotTile::batch != 0 && end != order()) return;
    const auto moves = PivotTile::moves(pivots_, order(), begin / PivotTile::batch);
    device::check("collect_moves",
                  device::cuda::collect_moves(stream_, origin_, A_.m, moves.count, moves.destination, moves.source));
  }

  /// Updates the `others` columns that follow columns [begin, begin + n).
  void update(int begin, int n, int others) {
    const T* const L = at(begin, begin);
    T* const U = at(begin, begin + n);
    const int below = A_.m - begin - n;
    device::check("trsm", device::cuda::trsm<T>(blas_, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, n, others,
                                                T(1), L, A_.ld, U, A_.ld));
    if (below > 0)
      device::check("gemm", device::cuda::gemm<T>(blas_, Op::NoTrans, Op::NoTrans, below, others, n, T(-1), L + n,
                                                  A_.ld, static_cast<const T*>(U), A_.ld, T(1), U + n, A_.ld));
  }

  /// Lets the solver library factorize a panel that is too tall for the leaves. Waits for the stream.
  void run_by_library(T* workspace) {
    device::check("getrf",
                  device::cuda::getrf<T>(solver_.handle, A_.m, A_.n, A_.data, A_.ld, workspace, pivots_, info_));
    std::vector<int> tile(static_cast<std::size_t>(PivotTile::elements(order())));
    const auto copy = [&](int* to, const int* from, std::size_t count) {
      device::check("copy of the pivots", device::cuda::copy_elements(stream_, from, to, count));
      device::check("copy of the pivots", device::cuda::wait_for(stream_));
    };
    copy(tile.data(), pivots_, static_cast<std::size_t>(order()));
    PivotTile::write_moves(tile.data(), order());
    copy(pivots_, tile.data(), tile.size());
  }

  void clear(int* data, Index count) const {
    device::check("memset", device::cuda::clear(stream_, data, static_cast<std::size_t>(count)));
  }
  T* at(int i, int j) const { return element(A_, i, j); }
  Index all_leaves() const { return (order() + width_ - 1) / width_; }
  Index leaf_ints() const { return 1 + 4 * Index{width_}; }

  Tile<T> A_;
  int *pivots_, *info_;
  device::cuda::Solver& solver_ = device::cuda::local_solver();
  device::cuda::Stream stream_ = device::cuda::local_stream();
  device::cuda::Handle blas_ = device::cuda::local_handle();
  int multiprocessors_ = device::cuda::local_lane().multiprocessors;
  int width_ = device::cuda::leaf_width<T>(A_.m, multiprocessors_);
  Index leaves_ = 0;
  int *origin_ = nullptr, *moves_ = nullptr;
};

#endif

}  // namespace tessera::codelets
