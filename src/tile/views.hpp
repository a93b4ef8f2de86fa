// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include <tessera/matrix.hpp>

#include "owners.hpp"
#include "tile.hpp"
#include "tile/region.hpp"
#include "tile/triangle_owners.hpp"
#include "unwritten.hpp"

/// Matrices as algorithms see them: tiles with their owners. Views of registered matrices determine the owners.
namespace tessera::tile {

/// A matrix as stored.
class FullView {
 public:
  /// @param last  number of the last tile rows and columns that cores own
  FullView(const Stored& A, tile::OwnerGrid gpus, Index last = 0)
      : FullView(A, tile::owners_with_cores(A.grid().session(), gpus, A, Part::All, last)) {}
  FullView(const Stored& A, Owners owners) : A_(A), owners_(std::move(owners)) {}

  Index mt() const noexcept { return A_.mt(); }
  Index nt() const noexcept { return A_.nt(); }
  /// The row of the matrix at which tile row i begins.
  Index first_row(Index i) const noexcept { return A_.row(i); }
  Tile operator()(Index i, Index j) const { return tile_of(A_, i, j, owners_.of(i, j)); }

 private:
  Stored A_;
  Owners owners_;
};

/// The lower triangle of a matrix of square tiles: a stored lower triangle, or the adjoint of a stored upper one.
class LowerView {
 public:
  /// @param A     as stored
  /// @param last  number of the last tile rows that cores own
  LowerView(const Stored& A, Uplo stored, tile::OwnerGrid gpus, Index last = 0)
      : LowerView(A, stored, tile::owners_with_cores(A.grid().session(), gpus, A, region(A, stored), last)) {}
  LowerView(const Stored& A, Uplo stored, Owners owners) : A_(A), stored_(stored), owners_(std::move(owners)) {}

  static Region region(const Stored& A, Uplo stored) {
    return Region::triangle(stored, A.mt(), A.nt(), A.mb(), A.nb());
  }

  Index nt() const noexcept { return A_.nt(); }
  Uplo stored() const noexcept { return stored_; }
  /// The row of the matrix at which tile row i begins.
  Index first_row(Index i) const noexcept { return A_.row(i); }
  /// @pre i ≥ j
  Tile operator()(Index i, Index j) const {
    if (stored_ == Uplo::Lower) return tile_of(A_, i, j, owners_.of(i, j));
    return tile_of(A_, j, i, owners_.of(j, i), adjoint_op(A_.type()));
  }

 private:
  Stored A_;
  Uplo stored_;
  Owners owners_;
};

/// op(A), a factor of a product.
class FactorView {
 public:
  /// @param A  as stored
  FactorView(const Stored& A, Op op) : A_(A), op_(op) {}

  Op op() const noexcept { return op_; }
  Tile operator()(Index i, Index j) const {
    return op_ == Op::NoTrans ? tile_of(A_, i, j, -1) : tile_of(A_, j, i, -1, op_);
  }

 private:
  Stored A_;
  Op op_;
};

/// A symmetric or Hermitian matrix of which one triangle is stored.
class SymmetricView {
 public:
  SymmetricView(const Stored& A, Uplo stored, bool hermitian) : A_(A), stored_(stored), hermitian_(hermitian) {}

  bool is_hermitian() const noexcept { return hermitian_; }

  Uplo stored() const noexcept { return stored_; }
  Tile operator()(Index i, Index j) const {
    if (i == j || (stored_ == Uplo::Lower) == (i > j)) return tile_of(A_, i, j, -1);
    return tile_of(A_, j, i, -1, common::symmetry(hermitian_));
  }

 private:
  Stored A_;
  Uplo stored_;
  bool hermitian_;
};

/// The tiles of a result to compute: all tiles, or those of a triangle.
class ResultView {
 public:
  /// @param C           as stored
  /// @param keeps_rest  whether diagonal tiles must keep their elements outside the triangle
  ResultView(const Stored& C, Region region, Owners owners, bool keeps_rest)
      : C_(C), region_(region), owners_(std::move(owners)), keeps_rest_(keeps_rest) {}
  /// The view of a registered matrix. If copies to the host skip the elements outside the triangle, the tiles need not
  /// keep them.
  /// @param last  number of the last tile rows, and for a triangle also columns, that no GPU owns
  ResultView(const detail::Session& session, tile::OwnerGrid gpus, const Stored& C, Region region, Index last = 0)
      : ResultView(C, region, tile::owners(session, gpus, C, region, last), !C.grid().copies_only_a_triangle()) {}

  Index mt() const noexcept { return C_.mt(); }
  Index nt() const noexcept { return C_.nt(); }
  const Region& region() const noexcept { return region_; }
  bool has_memory() const noexcept { return C_.has_memory(); }  ///< see Stored
  const Owners& owners() const noexcept { return owners_; }
  Tile operator()(Index i, Index j) const {
    Tile tile = tile_of(C_, i, j, owners_.of(i, j));
    if (region_.on_diagonal(i, j)) tile.part = region_.part;
    tile.diagonal = region_.first_row(j, C_.nb());
    tile.keeps_rest = keeps_rest_ && !unwritten::may_contain(tile.handle);
    return tile;
  }

 private:
  Stored C_;
  Region region_;
  Owners owners_;
  bool keeps_rest_;
};

/// A matrix in panels of full height. GPUs own the panels round-robin; for a triangle, in an order that balances the
/// bytes that GPUs load.
class PanelView {
 public:
  /// @param gpus  number of GPUs that own the panels; 0: no panel has an owner
  PanelView(const Stored& A, Index gpus) : A_(A), gpus_(gpus) {}
  PanelView(const Stored& A, Index gpus, Uplo stored) : A_(A), gpus_(gpus) {
    if (gpus > 0) of_triangle_.emplace(stored, A.n(), A.nb(), gpus);
  }

  Index count() const noexcept { return A_.nt(); }
  Index width() const noexcept { return A_.nb(); }
  Index first(Index j) const noexcept { return j * A_.nb(); }
  Tile operator()(Index j) const {
    const int owner = of_triangle_ ? of_triangle_->of(j) : gpus_ > 0 ? static_cast<int>(j % gpus_) : -1;
    return tile_of(A_, 0, j, owner);
  }

 private:
  Stored A_;
  Index gpus_;
  std::optional<tile::TriangleOwners> of_triangle_;
};

}  // namespace tessera::tile
