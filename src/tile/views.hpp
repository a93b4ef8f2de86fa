// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "owners.hpp"
#include "tile.hpp"
#include "tiling/region.hpp"

/// A matrix as an algorithm sees it: its tiles, with their owners.
namespace tessera::tile {

/// A matrix as it is stored.
template <Scalar T>
class FullView {
 public:
  FullView(const Matrix<T>& A, detail::OwnerGrid gpus)
      : A_(A), owners_(owners(detail::MatrixAccess::session(A), gpus, A, Part::All)) {}

  Index mt() const noexcept { return A_.mt(); }
  Index nt() const noexcept { return A_.nt(); }
  /// The row of the matrix in which tile row i begins.
  Index first_row(Index i) const noexcept { return i * A_.mb(); }
  Tile operator()(Index i, Index j) const { return tile_of(A_, i, j, owners_.of(i, j)); }

 private:
  const Matrix<T>& A_;
  Owners owners_;
};

/// The lower triangle of a matrix of square tiles: a stored lower triangle, or the adjoint of a stored upper one.
template <Scalar T>
class LowerView {
 public:
  /// @param A  as stored
  LowerView(const Matrix<T>& A, Uplo stored, detail::OwnerGrid gpus)
      : A_(A), stored_(stored), owners_(owners(detail::MatrixAccess::session(A), gpus, A,
                                               Region::triangle(stored, A.mt(), A.nt(), A.mb(), A.nb()))) {}

  Index nt() const noexcept { return A_.nt(); }
  Uplo stored() const noexcept { return stored_; }
  /// The row of the matrix in which tile row i begins.
  Index first_row(Index i) const noexcept { return i * A_.mb(); }
  /// @pre i ≥ j
  Tile operator()(Index i, Index j) const {
    if (stored_ == Uplo::Lower) return tile_of(A_, i, j, owners_.of(i, j));
    return tile_of(A_, j, i, owners_.of(j, i), adjoint_op<T>);
  }

 private:
  const Matrix<T>& A_;
  Uplo stored_;
  Owners owners_;
};

}  // namespace tessera::tile
