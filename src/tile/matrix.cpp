// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

#include <tessera/error.hpp>

#include "blas/arguments.hpp"
#include "default_tile.hpp"
#include "home.hpp"
#include "kept.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "tile_grid.hpp"
#include "unwritten.hpp"

namespace tessera {

namespace {

using blas::arguments::Argument;
using blas::arguments::Problem;

/// @param position  position of m; n is the next argument
Argument illegal_size(int position, Index m, Index n) {
  if (m < 0) return {position, "m", Problem::TooSmall, m, 0};
  if (n < 0) return {position + 1, "n", Problem::TooSmall, n, 0};
  return {};
}

Argument illegal_tile(int position, Index m, Index n, TileSize tile) {
  for (const auto& [name, size] : {std::pair{"tile.rows", tile.rows}, std::pair{"tile.columns", tile.columns}}) {
    if (size < 0) return {position, name, Problem::TooSmall, size, 0};
    if (size > blas::arguments::largest_int)
      return {position, name, Problem::TooLarge, size, blas::arguments::largest_int};
  }
  constexpr Index most_elements = std::numeric_limits<std::uint32_t>::max();  // StarPU multiplies in 32 bits
  const Index rows = std::min(tile.rows, m), columns = std::min(tile.columns, n);
  if (rows > 0 && columns > most_elements / rows)
    return {position, "tile.columns", Problem::TooLarge, columns, most_elements / rows};
  return {};
}

template <Scalar T>
TileSize chosen_tile(const detail::Session& session, TileSize tile) {
  if (tile.rows > 0 && tile.columns > 0) return tile;
  const Index chosen = tile::default_tile(session.machine(), type_letter<T>);
  return {tile.rows > 0 ? tile.rows : chosen, tile.columns > 0 ? tile.columns : chosen};
}

/// @param session  if null, the session of the process
template <Scalar T>
std::shared_ptr<detail::TileGrid> make_grid(std::shared_ptr<detail::Session> session, const T* data, Index m, Index n,
                                            Index ld, TileSize tile, bool read_only, tile::EdgeTiles at_the_edges) {
  const blas::arguments::StoredMatrix stored{"data", "ld", 1, 4, m, n, ld, data, true, sizeof(T)};
  blas::arguments::require_legal("Matrix", illegal_size(2, m, n));
  blas::arguments::require_legal("Matrix", illegal_leading_dimension(stored));
  blas::arguments::require_legal("Matrix", illegal_memory(stored));
  blas::arguments::require_legal("Matrix", illegal_tile(5, m, n, tile));
  const bool of_program = session == nullptr;  // a call on pointers has already found the session
  if (of_program) {
    tile::require_reachable("Matrix", {&stored, 1});
    session = runtime::session_to_wait("Matrix");  // the destructor will have to wait
  }
  tile = chosen_tile<T>(*session, tile);
  // The const_cast is safe: tasks access tiles of a read-only matrix only with STARPU_R.
  auto grid = std::make_shared<detail::TileGrid>(std::move(session), const_cast<T*>(data), m, n, ld, sizeof(T), tile,
                                                 read_only, at_the_edges);
  if (of_program) grid->set_of_program();
  return grid;
}

template <Scalar T>
std::shared_ptr<detail::TileGrid> make_grid_without_memory(Index m, Index n, TileSize tile) {
  blas::arguments::require_legal("Matrix", illegal_size(1, m, n));
  blas::arguments::require_legal("Matrix", illegal_tile(3, m, n, tile));
  auto session = runtime::session_to_wait("Matrix");
  tile = chosen_tile<T>(*session, tile);
  auto grid = std::make_shared<detail::TileGrid>(std::move(session), nullptr, m, n, 0, sizeof(T), tile, false);
  grid->set_of_program();
  return grid;
}

/// @param name  'i' or 'j'
/// @param position  the position of the first of the two arguments
void require_range(char name, int position, Index i0, Index i1, Index count) {
  if (i0 >= 0 && i0 <= i1 && i1 <= count) return;
  const int end = i0 >= 0 && i0 < count && i0 <= i1;  // the end that is wrong; 1 if the start is valid
  throw ArgumentError("Matrix::view", position + end, name + std::to_string(end),
                      std::string(end == 1 ? "ends" : "starts") + " the range [" + std::to_string(i0) + ", " +
                          std::to_string(i1) + "), which must lie within [0, " + std::to_string(count) + ")");
}

}  // namespace

template <Scalar T>
Matrix<T>::Matrix(std::shared_ptr<detail::Session> session, const T* data, Index m, Index n, Index ld, TileSize tile,
                  bool read_only, tile::EdgeTiles at_the_edges)
    : grid_(make_grid<T>(std::move(session), data, m, n, ld, tile, read_only, at_the_edges)), mt_(grid_->mt()),
      nt_(grid_->nt()), m_(m), n_(n) {}

template <Scalar T>
Matrix<T>::Matrix(std::shared_ptr<detail::TileGrid> grid)
    : grid_(std::move(grid)), mt_(grid_->mt()), nt_(grid_->nt()), m_(grid_->m()), n_(grid_->n()) {}

template <Scalar T>
Matrix<T>::Matrix(T* data, Index m, Index n, Index ld, TileSize tile)
    : Matrix(nullptr, data, m, n, ld, tile, false, tile::EdgeTiles::Ragged) {}

template <Scalar T>
Matrix<T>::Matrix(const T* data, Index m, Index n, Index ld, TileSize tile)
    : Matrix(nullptr, data, m, n, ld, tile, true, tile::EdgeTiles::Ragged) {}

template <Scalar T>
Matrix<T>::Matrix(Index m, Index n, TileSize tile) : Matrix(make_grid_without_memory<T>(m, n, tile)) {}

template <Scalar T>
Index Matrix<T>::mb() const noexcept {
  return op_ == Op::NoTrans ? grid_->mb() : grid_->nb();
}
template <Scalar T>
Index Matrix<T>::nb() const noexcept {
  return op_ == Op::NoTrans ? grid_->nb() : grid_->mb();
}
template <Scalar T>
bool Matrix<T>::read_only() const noexcept {
  return grid_->read_only();
}
template <Scalar T>
Index Matrix<T>::tile_m(Index i) const noexcept {
  return op_ == Op::NoTrans ? grid_->tile_m(i0_ + i) : grid_->tile_n(j0_ + i);
}
template <Scalar T>
Index Matrix<T>::tile_n(Index j) const noexcept {
  return op_ == Op::NoTrans ? grid_->tile_n(j0_ + j) : grid_->tile_m(i0_ + j);
}

template <Scalar T>
starpu_data_handle_t Matrix<T>::handle(Index i, Index j) const {
  if (i < 0 || i >= mt() || j < 0 || j >= nt())
    throw ArgumentError("Matrix::handle", i < 0 || i >= mt() ? 1 : 2, i < 0 || i >= mt() ? "i" : "j",
                        "makes the tile (" + std::to_string(i) + ", " + std::to_string(j) + ") of " +
                            std::to_string(mt()) + "x" + std::to_string(nt()));
  auto* const tile = detail::MatrixAccess::handle(*this, i, j);
  tile::unwritten::give(tile);
  return tile;
}

template <Scalar T>
Matrix<T> Matrix<T>::view(Index i0, Index i1, Index j0, Index j1) const {
  require_range('i', 1, i0, i1, mt());
  require_range('j', 3, j0, j1, nt());
  const bool plain = op_ == Op::NoTrans;
  Matrix part = *this;
  part.i0_ = i0_ + (plain ? i0 : j0);
  part.j0_ = j0_ + (plain ? j0 : i0);
  part.mt_ = plain ? i1 - i0 : j1 - j0;
  part.nt_ = plain ? j1 - j0 : i1 - i0;
  const auto extent = [](Index first, Index count, const tile::Edges& edges) {
    return edges.begin(first + count) - edges.begin(first);
  };
  part.m_ = extent(part.i0_, part.mt_, grid_->rows());
  part.n_ = extent(part.j0_, part.nt_, grid_->columns());
  return part;
}

template <Scalar T>
Matrix<T> Matrix<T>::transposed() const {
  if (op_ == Op::ConjTrans && is_complex<T>)
    throw ArgumentError(
        "Matrix::transposed", 1, "*this",
        "is a conjugate transpose: its transpose would be a conjugate, which the BLAS does not support");
  Matrix view = *this;
  view.op_ = op_ == Op::NoTrans ? Op::Trans : Op::NoTrans;
  return view;
}

template <Scalar T>
Matrix<T> Matrix<T>::conjugate_transposed() const {
  if constexpr (!is_complex<T>) return transposed();
  if (op_ == Op::Trans)
    throw ArgumentError("Matrix::conjugate_transposed", 1, "*this",
                        "is a transpose: the result would be a conjugate, which the BLAS does not support");
  Matrix view = *this;
  view.op_ = op_ == Op::NoTrans ? Op::ConjTrans : Op::NoTrans;
  return view;
}

template <Scalar T>
bool Matrix<T>::overlaps(const Matrix& other) const {
  if (mt_ == 0 || nt_ == 0 || other.mt_ == 0 || other.nt_ == 0) return false;
  // Also correct if this process owns no tile of either matrix.
  if (grid_ == other.grid_ && (!grid_->has_memory() || grid_->share().is_distributed()))
    return i0_ < other.i0_ + other.mt_ && other.i0_ < i0_ + mt_ && j0_ < other.j0_ + other.nt_ && other.j0_ < j0_ + nt_;
  const auto memory = [](const Matrix& x) { return x.grid_->memory(x.i0_, x.i0_ + x.mt_, x.j0_, x.j0_ + x.nt_); };
  return tile::overlap(memory(*this), memory(other));
}

template <Scalar T>
void Matrix<T>::start_write_back() const {
  runtime::require_can_wait("Matrix::start_write_back");
  if (grid_->has_memory()) grid_->write_back(i0_, i0_ + mt_, j0_, j0_ + nt_);
}

template <Scalar T>
void Matrix<T>::wait() const {
  runtime::require_can_wait("Matrix::wait");
  grid_->write_back(i0_, i0_ + mt_, j0_, j0_ + nt_);
  tile::kept::InCall::are_computing();
  grid_->wait_until_written_back();
  grid_->check(i0_, i0_ + mt_, j0_, j0_ + nt_);
}

template class Matrix<float>;
template class Matrix<double>;
template class Matrix<std::complex<float>>;
template class Matrix<std::complex<double>>;

}  // namespace tessera
