// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/matrix.hpp>

#include "tile/edges.hpp"
#include "tile_grid.hpp"

namespace tessera::tile {

/// The tiles of a matrix as stored, for any type of elements. A plain value, which keeps no tile alive.
class Stored {
 public:
  /// @param A  not a transposed view
  template <Scalar T>
  Stored(const Matrix<T>& A)  // NOLINT(google-explicit-constructor): algorithms take any matrix
      : grid_(&detail::MatrixAccess::grid(A)), i0_(detail::MatrixAccess::first_row(A)),
        j0_(detail::MatrixAccess::first_column(A)), m_(A.m()), n_(A.n()), mb_(A.mb()), nb_(A.nb()), mt_(A.mt()),
        nt_(A.nt()), type_(type_letter<T>) {}

  char type() const noexcept { return type_; }  ///< s, d, c or z
  Index m() const noexcept { return m_; }
  Index n() const noexcept { return n_; }
  Index mb() const noexcept { return mb_; }
  Index nb() const noexcept { return nb_; }
  Index mt() const noexcept { return mt_; }
  Index nt() const noexcept { return nt_; }
  Index tile_m(Index i) const noexcept { return grid_ != nullptr ? grid_->tile_m(i0_ + i) : rows_.extent(i); }
  Index tile_n(Index j) const noexcept { return grid_ != nullptr ? grid_->tile_n(j0_ + j) : columns_.extent(j); }
  /// The row at which tile row i begins.
  Index row(Index i) const noexcept {
    return grid_ != nullptr ? grid_->rows().begin(i0_ + i) - grid_->rows().begin(i0_) : rows_.begin(i);
  }
  starpu_data_handle_t handle(Index i, Index j) const {
    return grid_ != nullptr ? grid_->handle(i0_ + i, j0_ + j) : numbered(first_ + static_cast<int>(i + j * mt_));
  }

  /// The registered tiles. @pre  the matrix is not an outline
  detail::TileGrid& grid() const noexcept { return *grid_; }
  bool is_outline() const noexcept { return grid_ == nullptr; }
  /// Whether the tiles come from the caller's memory and return there.
  bool has_memory() const noexcept { return grid_ == nullptr || grid_->has_memory(); }
  /// The first tile in the registered matrix, of which this matrix may be a part.
  Index first_row() const noexcept { return i0_; }
  Index first_column() const noexcept { return j0_; }

  /// A number in place of a handle, for a tile that is not registered.
  static starpu_data_handle_t numbered(int tile) {
    return reinterpret_cast<starpu_data_handle_t>(static_cast<std::uintptr_t>(tile) + 1);
  }

 protected:
  /// An outline: a matrix with extents, but without elements.
  /// @param first  number of its first tile
  Stored(char type, const Edges& rows, const Edges& columns, int first)
      : rows_(rows), columns_(columns), m_(rows.whole()), n_(columns.whole()), mb_(std::min(rows.tile(), m_)),
        nb_(std::min(columns.tile(), n_)), mt_(rows.count()), nt_(columns.count()), first_(first), type_(type) {}

 private:
  detail::TileGrid* grid_ = nullptr;
  Index i0_ = 0, j0_ = 0;
  Edges rows_{0, 1}, columns_{0, 1};  ///< of an outline
  Index m_, n_, mb_, nb_, mt_, nt_;
  int first_ = 0;
  char type_;
};

}  // namespace tessera::tile
