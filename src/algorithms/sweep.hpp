// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/matrix.hpp>

#include "algorithms/plan.hpp"
#include "cores.hpp"
#include "runtime/session.hpp"
#include "tile/owners.hpp"
#include "tile/tile.hpp"

namespace tessera::algorithms {

using tile::tile_of;

/// A triangular matrix A, applied in place to B. X denotes B if A is on the left, and Bᵀ if A is on the right.
///
/// This class reduces all variants of side, uplo and op to one. The tile rows s of X are numbered in the order in which
/// trsm solves them, and row s depends only on rows t < s. The tile columns j of X are independent of each other.
///
/// Each column of X belongs to one GPU, so X never moves between GPUs. Only if there are fewer columns than GPUs, rows
/// are distributed as well. All tasks of a row are submitted together, so each tile of X is finished early and is
/// written back while others are computed. GPUs of unequal speed own unequal numbers of columns. The last columns may
/// belong to CPU cores instead.
class Sweep {
 public:
  /// @param plan     plan for the tiles of B
  Sweep(const detail::Session& session, const algorithms::Plan& plan, Side side, Uplo uplo, Op op, Diag diag,
        const tile::Stored& A, const tile::Stored& B)
      : Sweep(session.machine(), plan, side, uplo, op, diag, A, B) {
    const auto& share = B.grid().share();
    is_distributed_ = share.is_distributed();
    own(plan.grid, is_left() ? B.first_column() : B.first_row(),
        is_left() ? tile::OwnerGrid{share.p, share.q} : tile::OwnerGrid{share.q, share.p});
  }
  /// The constructor for matrices that are not distributed.
  Sweep(const machine::Machine& machine, const algorithms::Plan& plan, Side side, Uplo uplo, Op op, Diag diag,
        const tile::Stored& A, const tile::Stored& B)
      : machine_(machine), A_(A), B_(B), side_(side), uplo_(uplo), op_(op), diag_(diag),
        forward_(((uplo == Uplo::Lower) != (op != Op::NoTrans)) == is_left()),
        cores_(columns(), plan.rows_for_cores.count + plan.columns_for_cores.count, machine_) {
    own(plan.grid, 0, {1, 1});
    if (machine_.has_owners() && plan.grid.p == 1 && !plan.speeds.empty()) deal(plan.speeds);
  }

  Side side() const noexcept { return side_; }
  Uplo uplo() const noexcept { return uplo_; }
  Op op() const noexcept { return op_; }
  Diag diag() const noexcept { return diag_; }
  Index rows() const { return A_.mt(); }                           ///< tile rows of X
  Index columns() const { return is_left() ? B_.nt() : B_.mt(); }  ///< tile columns of X

  /// Tile columns [begin, end) that are swept together.
  struct Group {
    Index begin, end;
  };
  /// The groups of columns: usually one group of all columns. If the columns do not divide evenly among the GPUs and
  /// only a few are left over, these form a second group, which is swept last. GPUs without such a column then steal
  /// its tiles. A tile needs all earlier tiles of its column, so this order saves copies. Over processes, which may
  /// have unequal numbers of GPUs but must agree, there is always one group.
  std::vector<Group> groups() const {
    const Index all = cores_.first(), gpus = owners_.period().q, rest = all % gpus;
    if (is_distributed_ || machine_.placement != Placement::Home || rest == 0 || 2 * rest >= gpus || all < gpus ||
        !dealt_.empty())
      return {{0, columns()}};
    return {{0, all - rest}, {all - rest, columns()}};
  }

  /// The product, in [0, count), that is submitted as number x of column j. The products belong to several rows, or are
  /// the terms of one row. If every GPU needs all of A, the GPUs use different orders.
  Index term(Index j, Index x, Index count) const {
    return owners_.exist() && owners_.grid().p == 1 && cores_.of(j) < 0 ? owners_.term(0, j, x, count) : x;
  }

  /// The tile, with its op, that multiplies X(t, j) in a term of X(s, j): tile (s, t) of op(A) if A is on the left,
  /// tile (t, s) if it is on the right, counted in the order of the solve.
  tile::Tile factor(Index s, Index t) const {
    const bool stored = is_left() != (op_ != Op::NoTrans);
    const Index i = stored ? at(s) : at(t), j = stored ? at(t) : at(s);
    return tile_of(A_, i, j, -1, op_);
  }
  /// The diagonal tile of A for row s, as stored.
  tile::Tile diagonal(Index s) const { return tile_of(A_, at(s), at(s), owners_.of(s, s)); }

  tile::Tile operator()(Index s, Index j) const {
    const int owner = cores_.of(j) >= 0 ? cores_.of(j)
                      : dealt_.empty()  ? owners_.of(s, j)
                                        : dealt_[static_cast<std::size_t>(j)];
    return is_left() ? tile_of(B_, at(s), j, owner) : tile_of(B_, j, at(s), owner);
  }

 private:
  void own(tile::OwnerGrid grid, Index first, tile::OwnerGrid processes) {
    if (machine_.has_owners()) owners_ = {grid, rows(), columns(), tile::Part::All, 0, first, processes};
  }
  /// Gives each column to the GPU that would then end first.
  void deal(const std::vector<double>& speeds) {
    std::vector<double> columns(speeds.size());
    for (Index j = 0; j < cores_.first(); j++) {
      std::size_t first = 0;
      for (std::size_t gpu = 1; gpu < speeds.size(); gpu++)
        if ((columns[gpu] + 1) * speeds[first] < (columns[first] + 1) * speeds[gpu]) first = gpu;
      columns[first]++;
      dealt_.push_back(static_cast<int>(first));
    }
  }
  bool is_left() const noexcept { return side_ == Side::Left; }
  Index at(Index s) const { return forward_ ? s : rows() - 1 - s; }

  const machine::Machine& machine_;
  tile::Stored A_, B_;
  bool is_distributed_ = false;
  Side side_;
  Uplo uplo_;
  Op op_;
  Diag diag_;
  bool forward_;
  CoreColumns cores_;
  std::vector<int> dealt_;  ///< owners of columns, if the GPUs differ in speed
  tile::Owners owners_;  ///< owners of the tiles of X, numbered as in the registered matrix, of which B may be a view
};

}  // namespace tessera::algorithms
