// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "support/operands.hpp"
#include "support/tiled.hpp"

/// Calls on Matrix<T> with any tiles and views of the operands.
namespace tessera::test {

/// The tiles and the views of the operands of a call.
struct Tiling {
  Extent cut;  ///< tiles of the result are m×n, terms of the sum are cut into k; zeros: the library's choice
  Op view_a = Op::NoTrans, view_b = Op::NoTrans, view_c = Op::NoTrans;
  bool ranges = false;  ///< the operands are ranges of tiles of larger matrices
  Index across = 1;     ///< rows of a tile divided by its columns, as stored, if a triangle is the output
};

inline std::ostream& operator<<(std::ostream& out, const Tiling& t) {
  out << "tiles " << t.cut.m << ' ' << t.cut.n << ' ' << t.cut.k << ", views " << static_cast<char>(t.view_a)
      << static_cast<char>(t.view_b) << static_cast<char>(t.view_c);
  if (t.across > 1) out << ", " << t.across << " times as high as wide";
  return t.ranges ? out << ", in ranges of tiles" : out;
}

/// An operand X: its own memory, registered in tiles, and a view that shows X. If the view is a range of tiles, X is
/// surrounded by marked NaN.
template <Scalar T>
class Shown {
 public:
  enum class As { Input, Output };

  Shown(const HostMatrix<T>& X, Size tile, Op view, bool range, As as)
      : view_(view), m_(X.m()), n_(X.n()), tile_(stored(view, tile.rows, tile.columns)), i0_(range ? tile_.rows : 0),
        j0_(range ? 2 * tile_.columns : 0),
        memory_(extent(i0_, rows(), tile_.rows), extent(j0_, columns(), tile_.columns),
                X.ld() - std::max<Index>(1, X.m())) {
    hide(memory_);
    put(memory_, i0_, j0_, view, X);
    before_ = memory_;
    const TileSize size{tile_.rows, tile_.columns};
    matrix_ = as == As::Output ? tiled(memory_, size) : tiled(std::as_const(memory_), size);
    if (!range) {
      matrix_ = view_of(view, *matrix_);
      return;
    }
    const auto rest = view_of(view, matrix_->view(1, matrix_->mt(), 0, matrix_->nt()));  // a view of a view
    const Index down = tiles(rows(), tile_.rows), across = tiles(columns(), tile_.columns);
    matrix_ = view == Op::NoTrans ? rest.view(0, down, 2, 2 + across) : rest.view(2, 2 + across, 0, down);
  }

  const Matrix<T>& matrix() const { return *matrix_; }

  /// Waits for all tasks and returns X.
  HostMatrix<T> written_back() {
    matrix_->wait();
    auto surroundings = memory_;
    const auto old = part(before_, i0_, j0_, rows(), columns());
    put(surroundings, i0_, j0_, Op::NoTrans, old);
    EXPECT_TRUE(surroundings == before_) << "wrote outside of the view";
    return part(memory_, i0_, j0_, rows(), columns(), view_);
  }

 private:
  static Index tiles(Index size, Index tile) { return (size + tile - 1) / tile; }
  /// A dimension of the larger matrix. X ends it if its last tile is smaller than the others; otherwise one tile
  /// follows.
  static Index extent(Index first, Index size, Index tile) {
    return first == 0 ? size : first + size + (size % tile == 0 ? tile : 0);
  }
  Index rows() const { return view_ == Op::NoTrans ? m_ : n_; }
  Index columns() const { return view_ == Op::NoTrans ? n_ : m_; }

  Op view_;
  Index m_, n_;
  Size tile_;
  Index i0_, j0_;
  HostMatrix<T> memory_, before_;
  std::optional<Matrix<T>> matrix_;  // the last member, so that it is destroyed before the memory
};

/// The operands of a call as matrices.
template <Scalar T>
class TiledCall {
 public:
  TiledCall(const Call<T>& call, const Tiling& tiling)
      : call_(call), a_(call.A, call.routine->size_a(call.options, cut_of_factor(tiling, true)), tiling.view_a,
                        tiling.ranges, As::Input),
        b_(call.B,
           call.routine->has_b() ? call.routine->size_b(call.options, cut_of_factor(tiling, false)) : Size{1, 1},
           tiling.view_b, tiling.ranges, As::Input),
        c_(call.C, tile_of_c(tiling), tiling.view_c, tiling.ranges, As::Output) {}

  TileArguments<T> arguments() const {
    return {call_.options, call_.alpha, a_.matrix(), b_.matrix(), call_.beta, c_.matrix()};
  }
  void submit() const { call_.routine->on_matrices(arguments()); }

  /// Waits for all tasks and returns the call with its present operands.
  Call<T> written_back() {
    auto now = call_;
    const auto replace = [](HostMatrix<T>& X, const HostMatrix<T>& by) {
      for (Index j = 0; j < X.n(); j++) std::copy_n(by.data() + j * by.ld(), X.m(), X.data() + j * X.ld());
    };
    replace(now.A, a_.written_back());
    replace(now.B, b_.written_back());
    replace(now.C, c_.written_back());
    return now;
  }

 private:
  using As = typename Shown<T>::As;

  Size tile_of_c(const Tiling& tiling) const {
    auto tile = call_.routine->size_c(call_.options, tiling.cut);
    (tiling.view_c == Op::NoTrans ? tile.columns : tile.rows) /= tiling.across;
    return tile;
  }
  /// The tiles of a factor. In a product the left factor has the row cut of C, the right one its column cut. In a
  /// symmetric update all factors have the row cut of C as stored.
  Extent cut_of_factor(const Tiling& tiling, bool left) const {
    auto cut = tiling.cut;
    const bool rows_are_narrow = tiling.view_c != Op::NoTrans;
    if (call_.routine->c == Structure::Triangular && left == rows_are_narrow) cut.n /= tiling.across;
    return cut;
  }

  const Call<T>& call_;
  Shown<T> a_, b_, c_;
};

template <Scalar T>
Call<T> on_matrices(const Call<T>& call, const Tiling& tiling);

}  // namespace tessera::test
